"""Thinc models that score arcs and labels, registered under versioned names."""
