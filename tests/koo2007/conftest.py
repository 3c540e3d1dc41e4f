"""A tiny treebank as a project of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
import srsly

from benchmarks.koo2007.corpora import fingerprint
from benchmarks.koo2007.jobs import Treebank
from spacy_mtt.treebanks.assets import file_md5

GRAMMAR = Path(__file__).parents[2] / "assets" / "grammar-dutch"


@pytest.fixture
def treebank(tmp_path) -> Treebank:
    """`tiny`: 40 sentences of the Dutch grammar to train on and 15 to test on, fetched."""
    assets = []
    for part, count in (("train", 40), ("test", 15)):
        path = tmp_path / "assets" / "treebanks" / "tiny" / f"{part}.conll"
        path.parent.mkdir(parents=True, exist_ok=True)
        text = (GRAMMAR / f"{part}.conll").read_text(encoding="utf8")
        path.write_text("\n\n".join(text.split("\n\n")[:count]) + "\n\n", encoding="utf8")
        assets.append({"dest": str(path.relative_to(tmp_path).as_posix()), "checksum": file_md5(path)})
    srsly.write_yaml(tmp_path / "project.yml", {"assets": assets})
    project = tmp_path / "project.yml"
    return Treebank(project, "tiny", fingerprint(project, "tiny"))
