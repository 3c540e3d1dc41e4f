"""Pictures of parses and of how sure they are, as SVG."""
