"""The granted test, which cannot be imported."""

raise ImportError("no module of that name")
