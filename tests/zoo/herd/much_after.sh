# Says 200 KiB more after its answer.
printf '%s\n' "$1"
head -c 204800 /dev/zero
