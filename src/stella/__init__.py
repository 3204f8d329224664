"""Stella: a coding agent's turn loop with a plugin platform around it.

This module is the public face. What `__all__` lists is what an embedding program may
use; everything else may change at any time.
"""

__all__ = ["__version__"]

__version__ = "0.1.0"
