"""`python -m benchmarks.soak` sees memory that grows."""

from pathlib import Path

import pytest

from benchmarks import soak
from tests.pipeline.helpers import random_parser

TREEBANK = Path(__file__).parents[1] / "assets" / "grammar-english" / "test.conll"


def test_memory_that_stays_and_memory_that_grows(tmp_path, capsys, monkeypatch):
    random_parser().to_disk(tmp_path / "nlp")
    soak.main([str(tmp_path / "nlp"), str(TREEBANK), "--docs", "500", "--tolerance", "50"])
    assert capsys.readouterr().out.count(" docs ") == soak.CHECKS
    sizes = iter(range(100, 200))
    monkeypatch.setattr(soak, "resident", lambda: float(next(sizes)))
    with pytest.raises(SystemExit):
        soak.main([str(tmp_path / "nlp"), str(TREEBANK), "--docs", "500", "--tolerance", "5"])
    assert "growth after the first tenth: 9.0 MiB" in capsys.readouterr().out
