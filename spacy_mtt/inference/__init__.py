"""Exact inference over dependency trees: arrays in, arrays out. Knows numpy alone."""
