# Answers, and then never stops talking.
printf '%s\n' "$1"
exec yes
