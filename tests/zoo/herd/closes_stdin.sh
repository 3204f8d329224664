# Closes its input unread.
exec <&-
printf '%s\n' "$1"
