"""`mtt convert`: CoNLL-X, CoNLL-U and .spacy, each into each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from spacy_mtt.cli._util import one_sentence_errors
from spacy_mtt.treebanks.conversion import to_format
from spacy_mtt.treebanks.docbins import read_docbin, write_docbin
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.reading import find_format, read_treebank
from spacy_mtt.treebanks.sentence import TreebankSentence
from spacy_mtt.treebanks.writing import write_treebank

DOCBIN_SUFFIX = ".spacy"


@one_sentence_errors
def convert(
    source: Annotated[Path, typer.Argument(metavar="IN", help="Treebank or .spacy file", show_default=False)],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="File to write", show_default=False)],
    source_format: Annotated[
        str | None, typer.Option("--from", help="Format of IN: conllx or conllu (default: by its ending)")
    ] = None,
    target_format: Annotated[
        str | None, typer.Option("--to", help="Format of OUT: conllx or conllu (default: by its ending)")
    ] = None,
    sents_per_doc: Annotated[
        int, typer.Option("--sents-per-doc", "-n", min=1, help="Sentences in a Doc of a .spacy file")
    ] = 1,
    encoding: Annotated[str, typer.Option("--encoding", "-e", help="Encoding of IN, if a treebank")] = "utf8",
    output_encoding: Annotated[str, typer.Option("--output-encoding", help="Encoding of OUT, if a treebank")] = "utf8",
) -> None:
    """Convert between CoNLL-X, CoNLL-U and spaCy's .spacy.

    A treebank that goes into .spacy and comes back in its own format is the same byte for byte, except for
    its encoding. Between CoNLL-X and CoNLL-U, what the other format has no place for is lost: comments,
    multi-word tokens, empty nodes, DEPS and MISC one way, PHEAD and PDEPREL the other. OUT appears when it is
    complete.
    """
    count = _convert(source, target, source_format, target_format, sents_per_doc, encoding, output_encoding)
    typer.echo(f"{target}: {count}")


def _convert(source, target, source_format, target_format, sents_per_doc, encoding, output_encoding) -> str:
    from_docs, to_docs = (path.suffix == DOCBIN_SUFFIX for path in (source, target))
    if from_docs and to_docs:
        raise TreebankError(f"{source} and {target} are both .spacy files, there is nothing to convert")
    if from_docs:
        sentences: Iterable[TreebankSentence] = read_docbin(source)
    else:
        sentences = read_treebank(source, source_format, encoding=encoding)
    if to_docs:
        return f"{write_docbin(target, sentences, sents_per_doc=sents_per_doc)} Docs"
    format = find_format(target, target_format)
    converted = (to_format(each, format) for each in sentences)
    return f"{write_treebank(target, converted, encoding=output_encoding)} sentences"
