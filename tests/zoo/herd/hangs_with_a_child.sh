# Hangs, and so does a child in a session of its own that holds every pipe.
setsid sleep 600 &
wait
