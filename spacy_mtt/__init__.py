"""Exact distributions over dependency trees, and the spaCy component `mtt_parser` built on them."""

from .inference.distribution import TreeDistribution
from .inference.feasibility import NoTreeError
from .inference.sibling_distribution import SiblingTreeDistribution
from .inference.spans import SpanTreeDistribution

__version__ = "0.1.0"
__all__ = ["NoTreeError", "SiblingTreeDistribution", "SpanTreeDistribution", "TreeDistribution", "__version__"]
