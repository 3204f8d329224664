test -f marker.txt
