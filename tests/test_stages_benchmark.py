"""The benchmark of stages, on a small pipeline."""

from pathlib import Path

import pytest

from benchmarks import stages
from tests.pipeline.helpers import parse_of, trained_parser

TREEBANK = Path(__file__).parents[1] / "assets" / "grammar-english" / "dev.conll"


def test_stages_add_up(tmp_path):
    nlp = trained_parser()
    nlp.to_disk(tmp_path / "model")
    expected = parse_of(nlp("the cat saw a small dog"))
    stages.main([str(TREEBANK), f"small={tmp_path / 'model'}", "--rounds", "1", "--out", str(tmp_path / "page.md")])
    (row,) = [line for line in (tmp_path / "page.md").read_text(encoding="utf8").splitlines() if "small" in line]
    name, *cells, share = [cell.strip() for cell in row.strip("|").split("|")]
    *parts, whole = map(float, cells)
    assert name == "small" and len(parts) == len(stages.STAGES) and min(parts[:3]) > 0
    assert sum(parts) == pytest.approx(whole, abs=0.3)
    assert float(share.split()[0]) == pytest.approx(100 * (1 - parts[0] / whole), abs=1.5)
    stages.on_the_clock(nlp)
    assert parse_of(nlp("the cat saw a small dog")) == expected


def test_rounds_have_to_be_some(capsys):
    with pytest.raises(SystemExit):
        stages.main(["treebank", "model", "--rounds", "0"])
    assert "--rounds 0: has to be at least 1" in capsys.readouterr().err
