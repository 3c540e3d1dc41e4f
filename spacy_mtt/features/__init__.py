"""Sparse features of arcs: templates as data, hashing, and a kernel that scores and adds them."""
