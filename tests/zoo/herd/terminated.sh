# Ends itself by the signal that asks for it.
kill -TERM $$
