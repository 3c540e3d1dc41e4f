"""`mtt show`: parses for people, as text and as a picture."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from spacy import displacy
from spacy.language import Language
from spacy.tokens import Doc, Span

from spacy_mtt.cli._util import EncodingOption, FormatOption, GpuOption, load_pipeline, one_sentence_errors
from spacy_mtt.inference.trees import crossing_arcs
from spacy_mtt.treebanks.evaluation import EvaluationError
from spacy_mtt.treebanks.pipelines import parse_with
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.sentence import TreebankSentence
from spacy_mtt.treebanks.writing import replacing

CROSSING = "x"
BATCH = 64


@dataclass(frozen=True)
class Shown:
    """A parsed sentence, number `number` of its source; heads (n,) with 0 for the root, and those of the treebank."""

    number: int
    sentence: Span
    heads: np.ndarray
    labels: list[str]
    gold_heads: np.ndarray | None = None
    gold_labels: list[str] | None = None

    @property
    def crossing(self) -> np.ndarray:
        """Which arcs cross another one, (n,) bool; arcs from the root, which stand in no picture, do not count."""
        inside = np.where(self.heads == 0, -1, self.heads)
        return crossing_arcs(inside)


@one_sentence_errors
def show(
    model: Annotated[str, typer.Argument(help="Pipeline that parses: name or path", show_default=False)],
    treebank: Annotated[
        Path | None, typer.Argument(help="Treebank file whose sentences to parse (or give --text)")
    ] = None,
    text: Annotated[str | None, typer.Option("--text", "-t", help="Text to parse")] = None,
    limit: Annotated[int, typer.Option("--n", "-n", min=1, help="Show so many sentences")] = 5,
    first: Annotated[int, typer.Option("--first", min=1, help="Number of the first sentence")] = 1,
    crossing: Annotated[
        bool, typer.Option("--crossing", help="Show parses with crossing arcs before all others")
    ] = False,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg", help="SVG file for a picture: of the first shown parse with crossing arcs, or else the first"
        ),
    ] = None,
    compact: Annotated[bool, typer.Option("--compact", help="Draw square arcs, which take less room")] = False,
    format: FormatOption = None,
    encoding: EncodingOption = "utf8",
    gpu_id: GpuOption = -1,
) -> None:
    """Print parses as tables, and draw one.

    Each line is a word: its number, the word, the label of its arc, the number and word of its head. Arcs that cross
    another arc are marked with "x". For a treebank, where the words and the sentence boundaries are given, head and
    label of the treebank follow where they differ.
    """
    if (treebank is None) == (text is None):
        raise EvaluationError("give either a treebank file or --text, and not both")
    nlp = load_pipeline(model, gpu_id)
    if treebank is not None:
        sentences = islice(read_treebank(treebank, format, encoding=encoding), first - 1, None)
        found = _parse_treebank(nlp, sentences, first, BATCH if crossing else limit)
    else:
        found = islice(_parse_text(nlp, text), first - 1, None)
    shown = _crossing_first(found, limit) if crossing else list(islice(found, limit))
    if not shown:
        raise EvaluationError(f"there is no sentence {first} in {treebank if treebank is not None else 'the text'}")
    for each in shown:
        typer.echo(f"{each.number}. {each.sentence.text}\n{parse_table(each)}\n")
    if svg is not None:
        drawn = next((each for each in shown if each.crossing.any()), shown[0])
        with replacing(svg) as file:
            file.write(draw(drawn.sentence, compact=compact).encode("utf8"))
        typer.echo(f"{svg}: sentence {drawn.number}")


def _parse_treebank(nlp: Language, gold: Iterator[TreebankSentence], first: int, batch_size: int) -> Iterator[Shown]:
    """The sentences of a treebank, parsed in batches and not further than they are asked for."""
    number = count(first)
    while batch := list(islice(gold, batch_size)):
        parsed = parse_with(nlp, batch)
        for example, tree, gold_tree in zip(parsed.examples, parsed.sentences, batch, strict=True):
            sentence = example.predicted[:]
            yield Shown(next(number), sentence, tree.heads, tree.deprels, gold_tree.heads, gold_tree.deprels)


def _parse_text(nlp: Language, text: str) -> Iterator[Shown]:
    doc = nlp(text)
    if len(doc) and not doc.has_annotation("DEP"):
        raise EvaluationError(f"the pipeline ({', '.join(nlp.pipe_names)}) gives no word a head, it needs a parser")
    for number, sentence in enumerate(doc.sents, 1):
        heads = [0 if word.head == word else word.head.i - sentence.start + 1 for word in sentence]
        yield Shown(number, sentence, np.array(heads), [word.dep_ for word in sentence])


def _crossing_first(found: Iterator[Shown], limit: int) -> list[Shown]:
    """The first `limit` parses with crossing arcs; if there are fewer, followed by the first of the others."""
    crossing: list[Shown] = []
    others: list[Shown] = []
    for each in found:
        kept = crossing if each.crossing.any() else others
        if len(kept) < limit:
            kept.append(each)
        if len(crossing) == limit:
            break
    return (crossing + others)[:limit]


def parse_table(shown: Shown) -> str:
    """The parse as aligned lines, one a word."""
    words = [word.text for word in shown.sentence]
    names = ["root", *words]
    marks = [CROSSING if crossing else "" for crossing in shown.crossing]
    rows = []
    for i, (word, head, label) in enumerate(zip(words, shown.heads.tolist(), shown.labels, strict=True)):
        row = [str(i + 1), word, marks[i], label, str(head), names[head]]
        if shown.gold_heads is not None and (head, label) != (gold := (int(shown.gold_heads[i]), shown.gold_labels[i])):
            row.append(f"treebank: {gold[1]} {gold[0]} {names[gold[0]]}" if gold[0] >= 0 else "treebank: none")
        rows.append(row)
    widths = [max(len(row[i]) for row in rows) for i in range(6)]
    lines = (
        "  ".join([row[0].rjust(widths[0]), *map(str.ljust, row[1:6], widths[1:]), *row[6:]]).rstrip() for row in rows
    )
    return "\n".join("  " + line for line in lines)


def draw(sentence: Span, *, compact: bool = False) -> str:
    """The parse of a sentence as the text of an SVG file, by displaCy. Every word is drawn, punctuation too."""
    doc: Doc = sentence.as_doc()
    longest = max(len(word) for word in doc)
    options = {"compact": compact, "collapse_punct": False, "distance": max(90, 11 * longest + 20)}
    return displacy.render(doc, style="dep", jupyter=False, options=options)
