"""`python -m benchmarks.rehearsal` on two tiny treebanks."""

from benchmarks import rehearsal
from tests.pipeline.test_probabilities import soft_parser
from tests.test_accuracy_benchmark import tiny_corpus


def test_the_whole_command(tmp_path):
    soft_parser()[0].to_disk(tmp_path / "model")
    corpus = tmp_path / "corpus"
    for name in ("old", "new"):
        tiny_corpus(corpus / name)
    arguments = [str(tmp_path / "model"), "--old", "old", "--new", "new", "--steps", "2", "--rate", "0.01"]
    rehearsal.main([*arguments, "--corpus", str(corpus), "--out", str(tmp_path / "page.md")])
    rows = [line for line in (tmp_path / "page.md").read_text(encoding="utf8").splitlines() if line.startswith("| ")]
    found = {cells[1]: [float(cell) for cell in cells[2:-1]] for cells in map(split, rows[1:])}
    assert list(found) == ["before", "after, without rehearsal", "after, with rehearsal"]
    assert found["before"] != found["after, without rehearsal"] != found["after, with rehearsal"]
    assert all(len(scores) == 4 and all(0 <= score <= 100 for score in scores) for scores in found.values())


def split(row: str) -> list[str]:
    return [cell.strip() for cell in row.split("|")]
