# Reads ten bytes of the request and closes its input.
head -c 10 > /dev/null
exec < /dev/null
printf '%s\n' "$1"
