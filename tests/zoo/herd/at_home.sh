# Fails unless it starts in its own directory [T-5].
[ "$(pwd -P)" = "$(cd "$(dirname "$0")" && pwd -P)" ] || exit 9
printf '%s\n' "$1"
