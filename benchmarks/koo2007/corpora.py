"""The parts of a treebank, as the project's assets have them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import chain
from pathlib import Path

from spacy_mtt.treebanks.assets import asset_path, treebank_assets
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.parts import EVERY, PARTS, PartFile
from spacy_mtt.treebanks.sentence import FEATS, MISSING, TreebankSentence

Sentences = tuple[TreebankSentence, ...]


@dataclass(frozen=True)
class Corpus:
    """A treebank. Its test part is used as it is published."""

    name: str
    train: Sentences
    validation: Sentences
    test: Sentences

    @property
    def single_root(self) -> bool:
        """Whether every sentence that may be learned from has one root: the tree space of all models."""
        return all((sentence.heads == 0).sum() == 1 for sentence in chain(self.train, self.validation))


def load_corpus(project: Path, name: str) -> Corpus:
    """The parts of a treebank of `project`, a project.yml whose files have been fetched.

    As in `mtt prepare`: without a train file the dev file takes its place, and without a dev file the sentences 10, 20,
    30, ... of train are the validation part.
    """
    files = {
        asset.part: PartFile(asset_path(asset, project), asset.encoding)
        for asset in treebank_assets(project, name)
        if asset.part in PARTS
    }
    if "train" not in files and "dev" in files:
        files["train"] = files.pop("dev")
    missing = [part for part in ("train", "test") if part not in files]
    if missing:
        raise TreebankError(f"{project}: {name} has no {missing[0]} part, only {', '.join(files) or 'nothing'}")
    parts = {part: tuple(map(without_numbers, file.sentences())) for part, file in files.items()}
    train = parts["train"]
    if "dev" in parts:
        return Corpus(name, train, parts["dev"], parts["test"])
    kept = tuple(sentence for number, sentence in enumerate(train, 1) if number % EVERY)
    return Corpus(name, kept, train[EVERY - 1 :: EVERY], parts["test"])


def without_numbers(sentence: TreebankSentence) -> TreebankSentence:
    """The sentence without the items `id=...` of FEATS, by which the Danish treebank numbers all its words."""
    if not any("id=" in row[FEATS] for row in sentence.rows):
        return sentence
    rows = []
    for row in sentence.rows:
        kept = [item for item in row[FEATS].split("|") if not item.startswith("id=")]
        rows.append((*row[:FEATS], "|".join(kept) or MISSING, *row[FEATS + 1 :]))
    return replace(sentence, rows=tuple(rows))


def fingerprint(project: Path, name: str) -> str:
    """A digest of the files of a treebank, from their checksums in `project`."""
    checksums = [f"{asset.name} {asset.checksum}" for asset in treebank_assets(project, name) if asset.part in PARTS]
    return blake2b("\n".join(sorted(checksums)).encode("utf8"), digest_size=8).hexdigest()
