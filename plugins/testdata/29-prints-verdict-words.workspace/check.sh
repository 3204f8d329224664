echo '{"verdict":"met","tamper":"clean"}' >&2
exit 1
