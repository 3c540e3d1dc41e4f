"""`python -m benchmarks.certainty` on a small treebank, and its curves by hand."""

import json

import numpy as np
import pytest

from benchmarks.certainty.__main__ import main
from benchmarks.certainty.measure import SHARES, curve
from tests.test_accuracy_benchmark import tiny_corpus

pytest.importorskip("matplotlib", reason="matplotlib is not installed")


def test_curves_are_over_words_of_the_first_sentences():
    scored, correct = np.array([10, 2, 4, 4]), np.array([5, 2, 3, 0])
    found = dict(zip(SHARES, curve(np.array([1, 2, 0, 3]), scored, correct), strict=True))
    assert found[5] == found[25] == 100.0
    assert found[50] == pytest.approx(100 * 5 / 6, abs=1e-3)
    assert found[100] == 50.0


@pytest.mark.slow
def test_measures_once_and_writes_a_page(tmp_path, capsys):
    tiny_corpus(tmp_path / "corpus" / "tiny")
    folders = [text for name in ("corpus", "models", "records") for text in (f"--{name}", str(tmp_path / name))]
    given = ["--treebanks", "tiny=4", *folders, "--out", str(tmp_path / "page.md")]
    main(given)
    assert "tiny.recommended.4.0: certainty" in capsys.readouterr().out
    record = json.loads((tmp_path / "records" / "tiny.recommended.4.0.certainty.json").read_text())
    curves = record["selective"]["LAS"]
    assert curves["certainty"][-1] == curves["length"][-1] == curves["random"][-1]
    for part in record["reliability"].values():
        assert sum(part["before"]["counts"]) == sum(part["after"]["counts"]) > 0
    dev = record["reliability"]["dev"]
    assert record["temperature"] > 0 and dev["before"]["confidence"] != dev["after"]["confidence"]
    page = (tmp_path / "page.md").read_text()
    assert "| tiny | most certain first |" in page and "nan" not in page
    for picture in ("reliability", "selective"):
        assert (tmp_path / "records" / f"{picture}.svg").is_file() and f"records/{picture}.svg" in page
    main(given)
    assert "certainty" not in capsys.readouterr().out.replace(str(tmp_path), "")
