"""Parsing corpora of any size, in parts: read, parse here or on other machines, write, go on after a stop."""
