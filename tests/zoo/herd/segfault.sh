# Dies of a bad address, without leaving an image of itself.
ulimit -c 0
printf '%s\n' "$1"
kill -SEGV $$
