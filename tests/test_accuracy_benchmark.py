"""`python -m benchmarks.accuracy` on a small treebank: everything it does, once, and nothing twice."""

from pathlib import Path

import pytest

from benchmarks.accuracy.__main__ import main
from spacy_mtt.treebanks.conversion import to_conllu
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.writing import write_treebank

pytest.importorskip("matplotlib", reason="matplotlib is not installed")
TREEBANK = Path(__file__).parents[1] / "assets" / "grammar-english"
SIZES = {"train": 60, "dev": 30, "test": 30}


def tiny_corpus(folder: Path) -> None:
    """The parts of a treebank of a few sentences, as the benchmarks prepare them."""
    folder.mkdir(parents=True)
    for part, size in SIZES.items():
        sentences = list(read_treebank(TREEBANK / f"{part}.conll"))[:size]
        write_treebank(folder / f"{part}.conllu", map(to_conllu, sentences))


@pytest.mark.slow
def test_trains_scores_measures_and_goes_on(tmp_path, capsys):
    tiny_corpus(tmp_path / "corpus" / "tiny")
    folders = [text for name in ("corpus", "models", "records") for text in (f"--{name}", str(tmp_path / name))]
    given = ["--treebanks", "tiny=2", *folders, "--rounds", "1", "--out", str(tmp_path / "page.md")]
    main([*given, "--contenders", "spacy", "--parts", "dev"])
    assert not (tmp_path / "page.md").exists()  # not all have been trained
    first = capsys.readouterr().out
    assert "tiny.spacy.2.0: training" in first and "tiny.spacy.2.0: test" not in first
    main(given)
    page = (tmp_path / "page.md").read_text()
    assert page.count("| tiny | recommended |") == 4 and (tmp_path / "records" / "las.svg").is_file()
    assert "nan" not in page
    assert "tiny.spacy.2.0: training" not in capsys.readouterr().out
    main(given)
    assert "training" not in capsys.readouterr().out
    (tmp_path / "page.md").unlink()
    with pytest.raises(SystemExit):
        main([*given, "--treebanks", "tiny=many"])
