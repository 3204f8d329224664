# Ignores every request to end.
trap '' HUP INT TERM QUIT
while :; do sleep 600; done
