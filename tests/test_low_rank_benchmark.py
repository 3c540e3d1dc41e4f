"""The benchmark of the low-rank model runs, keeps what it has, and makes again what has changed."""

import json
from pathlib import Path

import pytest

from benchmarks import low_rank

GRAMMAR = Path(__file__).parents[1] / "assets" / "grammar-dutch"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A folder with one small treebank in CoNLL-X that has no dev file."""
    treebank = tmp_path / "treebanks" / "tiny"
    treebank.mkdir(parents=True)
    for part, count in (("train", 60), ("test", 12)):
        text = (GRAMMAR / f"{part}.conll").read_text(encoding="utf8")
        (treebank / f"{part}.conll").write_text("\n\n".join(text.split("\n\n")[:count]) + "\n\n", encoding="utf8")
    return treebank.parent


def table(out: Path) -> list[list[str]]:
    lines = out.read_text(encoding="utf8").splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines if line.startswith("| tiny")]


@pytest.mark.slow
def test_runs_are_made_once_and_again_if_settings_change(folder, tmp_path, capsys):
    def run(*options):
        arguments = ["--folder", str(folder), "--treebanks", "tiny", "--gammas", "0.3", "1", "--ranks", "2"]
        arguments += ["--passes", "2", "--records", str(tmp_path / "records")]
        low_rank.main([*arguments, "--out", str(tmp_path / "table.md"), *options])
        return table(tmp_path / "table.md"), capsys.readouterr().out.count("gamma")

    rows, made = run("--only-table")
    assert made == 0 and [row[4:] for row in rows] == [["-"] * 6] * 2
    rows, made = run()
    assert made == 4 and [row[:4] for row in rows] == [["tiny", "0.3", "2", "0.5"], ["tiny", "1", "-", "-"]]
    assert all(float(cell) > 0 for row in rows for cell in row[4:6])
    assert all(float(cell) >= 0 for row in rows for cell in row[6:])
    record = json.loads((tmp_path / "records" / "tiny.dev.gamma0.3.rank2.dropout0.5.json").read_text(encoding="utf8"))
    assert record["sentences"] == {"trained": 54, "excluded": {}, "scored": 6}
    again, made = run()
    assert made == 0 and again == rows
    assert run("--parts", "test", "--C", "0.02")[1] == 2
