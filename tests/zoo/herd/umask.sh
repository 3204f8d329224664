# Fails unless what it makes is its owner's alone [T-7].
[ "$(umask)" = 0077 ] || exit 9
printf '%s\n' "$1"
