"""`mtt suggest`: what to annotate next, with the parser's candidates, as a treebank to correct and train on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from spacy.language import Language
from spacy.tokens import Doc
from tqdm import tqdm

from spacy_mtt.cli._util import (
    EncodingOption,
    FormatOption,
    GpuOption,
    components_before,
    fail,
    load_pipeline,
    one_sentence_errors,
    parser_of,
)
from spacy_mtt.pipeline.component import MatrixTreeParser
from spacy_mtt.pipeline.suggestions import Candidates
from spacy_mtt.treebanks.conversion import to_format
from spacy_mtt.treebanks.docs import blank_doc
from spacy_mtt.treebanks.from_docs import doc_to_sentences
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.sentence import CONLLU, MISC, MISSING, TreebankSentence
from spacy_mtt.treebanks.writing import write_treebank

KEY = "Candidates"


class By(str, Enum):
    """What is ranked."""

    sentence = "sentence"
    token = "token"


@dataclass(frozen=True)
class Suggestion:
    """A sentence and its candidates. open: (n,) bool, the words without a head."""

    sentence: TreebankSentence
    found: Candidates
    open: np.ndarray

    @property
    def uncertainty(self) -> float:
        """The mean entropy of the heads of open words, in nats."""
        return float(self.found.entropies[self.open].mean()) if self.open.any() else 0.0


@one_sentence_errors
def suggest(
    model: Annotated[str, typer.Argument(help="Pipeline with an mtt_parser: name or path", show_default=False)],
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="Treebank, or a .txt file with a text in each line", show_default=False)
    ],
    output: Annotated[Path, typer.Argument(metavar="OUT", help="CoNLL-U file to correct", show_default=False)],
    by: Annotated[By, typer.Option("--by", help="Rank sentences, or single tokens")] = By.sentence,
    count: Annotated[int, typer.Option("--count", "-c", min=1, help="How many sentences or tokens to suggest")] = 100,
    candidates: Annotated[int, typer.Option("--candidates", "-k", min=1, help="Candidates for each word")] = 3,
    fill: Annotated[
        float | None, typer.Option("--fill", min=0.0, max=1.0, help="Fill in heads of at least this probability")
    ] = None,
    anew: Annotated[bool, typer.Option("--anew", help="Forget the heads that a treebank has")] = False,
    gold_tags: Annotated[bool, typer.Option("--gold-tags", help="Give the pipeline the tags of the treebank")] = False,
    format: FormatOption = None,
    encoding: EncodingOption = "utf8",
    gpu_id: GpuOption = -1,
) -> None:
    """Find what the parser is least sure of, and write it for an annotator to correct, the most uncertain first.

    Heads that a treebank has are kept, and all else is suggested given them. A word without head has `_` in HEAD and
    DEPREL; those that are suggested have the likeliest heads and labels with their probabilities in MISC:
    Candidates=3:nsubj:0.61,1:obj:0.30. Words that stay `_` are summed over in training, so that OUT trains as it is.
    """
    nlp = load_pipeline(model, gpu_id)
    parser = parser_of(nlp)
    docs = _docs(nlp, source, anew=anew, gold_tags=gold_tags, format=format, encoding=encoding)
    found = [
        each
        for doc, known in tqdm(docs, desc="sentences", disable=None)
        for each in _suggestions(parser, doc, known, candidates)
    ]
    ranked = _sentences(found, count) if by is By.sentence else _tokens(found, count)
    if not ranked:
        fail(f"{source}: no word is without a head, so there is nothing to suggest (--anew forgets heads)")
    names = parser.labels
    written = write_treebank(output, (_written(*each, names, fill) for each in ranked))
    words = sum(int(chosen.sum()) for _, chosen in ranked)
    typer.echo(f"{output}: {written} sentences, {words} words suggested")


def _docs(
    nlp: Language, source: Path, *, anew: bool, gold_tags: bool, format: str | None, encoding: str
) -> Iterator[tuple[Doc, TreebankSentence | None]]:
    """Docs as the parser is to see them, with their sentence if they are of a treebank."""
    with nlp.select_pipes(enable=components_before(nlp, gold_tags=gold_tags)):
        if source.suffix == ".txt":
            if not source.is_file():
                fail(f"{source}: no such file")
            lines = (line.strip() for line in source.read_text(encoding=encoding).splitlines())
            yield from ((doc, None) for doc in nlp.pipe(filter(None, lines)))
            return
        for sentence in read_treebank(source, format, encoding=encoding):
            known = sentence.with_tree([-1] * len(sentence), [MISSING] * len(sentence)) if anew else sentence
            (doc,) = nlp.pipe([blank_doc([known], nlp.vocab, gold_tags=gold_tags)])
            yield doc, known


def _suggestions(parser: MatrixTreeParser, doc: Doc, known: TreebankSentence | None, k: int) -> list[Suggestion]:
    """One for each sentence of a doc. The heads that a treebank's sentence has are constraints."""
    if known is not None:
        heads = {word: int(head) - 1 for word, head in enumerate(known.heads) if head > 0}
        doc._.mtt_constraints = {"heads": heads, "roots": np.flatnonzero(known.heads == 0).tolist()}
    try:
        found = parser.candidates(doc, k)
    except ValueError as error:
        fail(f"{doc.text[:60]!r}{known.at if known is not None else ''}: {error}")
    sentences = _cut(doc, found) if known is None else [known]
    return [
        Suggestion(to_format(sentence, CONLLU), own, sentence.heads < 0)
        for sentence, own in zip(sentences, found, strict=True)
    ]


def _cut(doc: Doc, found: list[Candidates]) -> list[TreebankSentence]:
    """The sentences of a text as the parser found them, without trees."""
    starts = {0, *(int(each.tokens[0]) for each in found[1:])}
    for token in doc:
        token.is_sent_start = token.i in starts
    return doc_to_sentences(doc, CONLLU, doc_sents=True)


def _sentences(found: list[Suggestion], count: int) -> list[tuple[Suggestion, np.ndarray]]:
    """The most uncertain sentences, with all of their open words."""
    ranked = sorted((each for each in found if each.open.any()), key=lambda each: -each.uncertainty)
    return [(each, each.open) for each in ranked[:count]]


def _tokens(found: list[Suggestion], count: int) -> list[tuple[Suggestion, np.ndarray]]:
    """The sentences with the most uncertain open words, with these."""
    words = [
        (-entropy, i, j)
        for i, each in enumerate(found)
        for j, entropy in enumerate(each.found.entropies)
        if each.open[j]
    ]
    chosen: dict[int, np.ndarray] = {}
    for _, i, j in sorted(words)[:count]:
        chosen.setdefault(i, np.zeros(len(found[i].open), dtype=bool))[j] = True
    return [(found[i], mask) for i, mask in chosen.items()]


def _written(suggestion: Suggestion, chosen: np.ndarray, names: Iterable[str], fill: float | None) -> TreebankSentence:
    """The sentence as the annotator gets it."""
    own, names = suggestion.found, tuple(names)
    heads, deprels = suggestion.sentence.heads.copy(), list(suggestion.sentence.deprels)
    for word in np.flatnonzero(suggestion.open):
        heads[word], deprels[word] = -1, MISSING
        if fill is not None and own.probabilities[word, 0] >= fill:
            heads[word], deprels[word] = own.heads[word, 0], names[own.labels[word, 0]]
    sentence = suggestion.sentence.with_tree(heads, deprels)
    rows = list(sentence.rows)
    for word in np.flatnonzero(chosen):
        if heads[word] < 0:
            text = f"{KEY}={_shown(own, word, names)}"
            kept = [] if rows[word][MISC] == MISSING else [rows[word][MISC]]
            rows[word] = (*rows[word][:MISC], "|".join([*kept, text]))
    comment = (0, f"# uncertainty = {suggestion.uncertainty:.4f}")
    return replace(sentence, rows=tuple(rows), extras=(comment, *sentence.extras))


def _shown(own: Candidates, word: int, names: tuple[str, ...]) -> str:
    """Head, label and probability of each candidate."""
    items = zip(own.heads[word], own.labels[word], own.probabilities[word], strict=True)
    return ",".join(f"{head}:{names[label]}:{probability:.3f}" for head, label, probability in items if probability > 0)
