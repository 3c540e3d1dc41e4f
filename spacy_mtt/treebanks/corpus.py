"""A spaCy corpus reader for treebank files: no conversion step before training."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.training import Example
from spacy.util import registry
from spacy.vocab import Vocab
from thinc.api import ConfigValidationError

from spacy_mtt.treebanks.docs import blank_doc, sentences_to_doc
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.reading import find_format, read_treebank
from spacy_mtt.treebanks.sentence import FORMATS, TreebankSentence


class CorpusError(TreebankError, ConfigValidationError):
    """A TreebankError that `spacy train` shows as one sentence instead of a traceback."""

    def __init__(self, message: str = "", **settings) -> None:
        settings.setdefault("title", "Treebank error")
        settings.setdefault("desc", message)
        ConfigValidationError.__init__(self, **settings)

    def __str__(self) -> str:
        return self.desc


@registry.readers("spacy_mtt.TreebankCorpus.v1")
class TreebankCorpus:
    """Examples from a CoNLL-X or CoNLL-U file, or from all such files under a folder in the order of names.

    The predicted Doc of an Example holds the words of the treebank. The reference Doc holds all annotation;
    if a sentence has several roots, spaCy splits it in the reference, while the predicted Doc stays one
    sentence with `gold_sents`.

    path: a file or a folder.
    format: "conllx" or "conllu"; None takes it from the ending of each file name.
    encoding: encoding of the files.
    gold_tags: set tags, morphology and lemmas on the predicted Docs.
    gold_sents: set `is_sent_start` on the predicted Docs: True on the first word of a sentence, False on the
    others.
    sents_per_doc: how many consecutive sentences of a file make a Doc.
    limit: stop after this many Docs; 0 for all.
    shuffle: another order at each pass, the same for the same `seed`; reads the whole corpus into memory.
    max_length: leave out sentences of more words; 0 for none.

    Raises CorpusError (a TreebankError) if the path does not exist or holds no treebank, and at the first
    error in a file.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        *,
        format: str | None = None,
        encoding: str = "utf8",
        gold_tags: bool = False,
        gold_sents: bool = True,
        sents_per_doc: int = 1,
        limit: int = 0,
        shuffle: bool = False,
        seed: int = 0,
        max_length: int = 0,
    ) -> None:
        for name, value, least in (
            ("sents_per_doc", sents_per_doc, 1),
            ("limit", limit, 0),
            ("max_length", max_length, 0),
        ):
            if value < least:
                raise CorpusError(f"{name} = {value}: has to be at least {least}")
        self.format = format
        self.encoding = encoding
        self.gold_tags = gold_tags
        self.gold_sents = gold_sents
        self.sents_per_doc = sents_per_doc
        self.limit = limit
        self.shuffle = shuffle
        self.max_length = max_length
        self._random = random.Random(seed)
        try:
            self.paths = find_treebanks(path, format)
        except TreebankError as error:
            raise CorpusError(str(error)) from None

    def __call__(self, nlp: Language) -> Iterator[Example]:
        """The Examples of one pass, read as a stream unless they are shuffled."""
        groups = self._groups()
        if self.shuffle:
            groups = list(groups)
            self._random.shuffle(groups)
        for group in islice(groups, self.limit or None):
            yield self._example(group, nlp.vocab)

    def _example(self, group: list[TreebankSentence], vocab: Vocab) -> Example:
        predicted = blank_doc(group, vocab, gold_tags=self.gold_tags, gold_sents=self.gold_sents)
        return Example(predicted, sentences_to_doc(group, vocab))

    def _groups(self) -> Iterator[list[TreebankSentence]]:
        """Sentences in groups of `sents_per_doc`; no group reaches into the next file."""
        try:
            for path in self.paths:
                sentences = read_treebank(path, self.format, encoding=self.encoding)
                kept = (each for each in sentences if not self.max_length or len(each) <= self.max_length)
                while group := list(islice(kept, self.sents_per_doc)):
                    yield group
        except TreebankError as error:
            raise CorpusError(str(error)) from None


def find_treebanks(path: str | os.PathLike[str] | None, format: str | None = None) -> list[Path]:
    """`path` itself if it is a file, else all treebank files under it, sorted. Raises TreebankError.

    Under a folder a file is one if its name has an ending of the given format, or of any if `format` is None.
    Hidden files and folders are left out.
    """
    if path is None:
        raise TreebankError(
            "the treebank corpus has no path (set it in the config, or as --paths.train and --paths.dev)"
        )
    path = Path(path)
    if not path.is_dir():
        if not path.exists():
            raise TreebankError(f"{path}: no such file or folder")
        find_format(path, format)
        return [path]
    formats = FORMATS.values() if format is None else [find_format(path, format)]
    endings = tuple(ending for each in formats for ending in each.suffixes)
    found = sorted(
        each
        for each in path.rglob("*")
        if each.suffix.lower() in endings
        and each.is_file()
        and not any(part.startswith(".") for part in each.relative_to(path).parts)
    )
    if not found:
        raise TreebankError(f"{path}: no file in this folder ends in {' or '.join(endings)}")
    return found
