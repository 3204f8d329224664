"""Dies of a mistake of its own."""

raise RuntimeError("no answer today")
