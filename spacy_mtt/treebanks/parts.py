"""The train, dev and test part of a treebank as three CoNLL-U files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from spacy_mtt.treebanks.conversion import to_conllu
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.sentence import TreebankSentence
from spacy_mtt.treebanks.writing import write_treebank

EVERY = 10
PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class PartFile:
    """A file that holds a part of a treebank."""

    path: Path
    encoding: str = "utf8"

    def sentences(self) -> Iterator[TreebankSentence]:
        """Its sentences; TreebankError at the first error in it."""
        return read_treebank(self.path, encoding=self.encoding)


def write_parts(files: Mapping[str, PartFile], target: str | os.PathLike[str], *, every: int = EVERY) -> dict[str, int]:
    """Write `train.conllu`, `dev.conllu` and `test.conllu` in UTF-8 into the folder `target`; return their sentences.

    files: the files of the treebank by part. `test` is used as it is, whatever else is missing. Without `train`, `dev`
        takes its place. Where no `dev` is left, the sentences number `every`, 2 `every`, ... of `train` (from 1) are
        taken out of it and make the `dev` part.

    The parts of a CoNLL-U treebank in UTF-8 that has all three are byte for byte its files. Raises TreebankError if
    `files` has no `test`, or neither `train` nor `dev`.
    """
    if every < 2:
        raise TreebankError(f"every = {every}: has to be at least 2, or nothing would be left to train on")
    files = dict(files)
    if "train" not in files and "dev" in files:
        files["train"] = files.pop("dev")
    missing = [part for part in ("train", "test") if part not in files]
    if missing:
        raise TreebankError(f"the treebank has no {missing[0]} part, only {', '.join(files) or 'nothing'}")
    target = Path(target)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TreebankError(f"{target}: cannot be made ({error.strerror})") from None
    keep = _rules(cut="dev" not in files, every=every)
    files.setdefault("dev", files["train"])
    return {part: _write(files[part], target / f"{part}.conllu", keep[part]) for part in PARTS}


def _rules(*, cut: bool, every: int) -> dict[str, Callable[[int], bool]]:
    """Which sentence numbers of its file belong to each part."""
    rules: dict[str, Callable[[int], bool]] = dict.fromkeys(PARTS, lambda number: True)
    if cut:
        rules["train"] = lambda number: number % every != 0
        rules["dev"] = lambda number: number % every == 0
    return rules


def _write(file: PartFile, path: Path, keep: Callable[[int], bool]) -> int:
    sentences = (to_conllu(sentence) for number, sentence in enumerate(file.sentences(), 1) if keep(number))
    count = write_treebank(path, sentences)
    if not count:
        path.unlink()
        raise TreebankError(f"{path}: would hold no sentence")
    return count
