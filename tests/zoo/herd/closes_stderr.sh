# Closes its standard error.
exec 2>&-
printf '%s\n' "$1"
