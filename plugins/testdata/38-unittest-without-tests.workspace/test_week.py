"""No test is left."""
