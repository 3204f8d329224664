# Answers without a line end.
printf %s "$1"
