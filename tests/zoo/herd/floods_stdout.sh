# Begins a document that never ends.
printf '{"point":"'
exec yes
