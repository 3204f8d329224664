"""Stands in for pytest, ended by the code under test before its closing words."""

import sys

print("collecting ...")
sys.exit(0)
