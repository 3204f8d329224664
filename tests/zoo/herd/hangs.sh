# Never answers and never ends.
exec sleep 600
