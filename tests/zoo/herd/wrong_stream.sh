# Answers on standard error.
printf '%s\n' "$1" >&2
