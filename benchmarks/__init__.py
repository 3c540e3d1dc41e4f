"""Measurements: each module is one command, `python -m benchmarks.NAME --help`.

    python -m benchmarks.inference      speed against every peer that is installed
    python -m benchmarks.robustness     exactness against every peer that is installed
    python -m benchmarks.cancellation   the figure of docs/inference.md
    python -m benchmarks.accuracy       accuracy and speed of the parser beside spaCy's
    python -m benchmarks.pretrained     the same over the token vectors of a pipeline from PyPI
    python -m benchmarks.stages         where the time of a pipeline goes
    python -m benchmarks.certainty      how reliable probabilities are
    python -m benchmarks.partial        learning from a part of the heads
    python -m benchmarks.rehearsal      what a parser forgets that learns on
    python -m benchmarks.koo2007        the experiment of Koo et al. (2007)
    bash benchmarks/sanitize.sh         the kernels under AddressSanitizer and UBSan

Nothing here is part of the package, and nothing in the package imports a peer.
"""
