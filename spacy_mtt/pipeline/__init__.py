"""The `mtt_parser` component of a spaCy pipeline."""
