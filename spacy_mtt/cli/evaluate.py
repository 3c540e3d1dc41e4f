"""`mtt evaluate`: a treebank file or a pipeline against gold trees, by three rule sets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from spacy.language import Language
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_mtt.cli._util import EncodingOption, FormatOption, GpuOption, load_pipeline, one_sentence_errors
from spacy_mtt.treebanks.conversion import to_format
from spacy_mtt.treebanks.evaluation import (
    Evaluation,
    EvaluationError,
    evaluate_conllx,
    evaluate_nonprojective,
    evaluate_spacy,
    evaluate_ud,
    examples_from,
    format_table,
)
from spacy_mtt.treebanks.pipelines import ParsedTreebank, parse_with
from spacy_mtt.treebanks.reading import find_format, read_treebank
from spacy_mtt.treebanks.sentence import TreebankSentence
from spacy_mtt.treebanks.writing import replacing, write_treebank

Results = dict[str, Evaluation | EvaluationError]


class Boundaries(str, Enum):
    """Whose sentence boundaries a pipeline gets."""

    gold = "gold"
    predicted = "predicted"


@one_sentence_errors
def evaluate(
    gold: Annotated[Path, typer.Argument(help="Treebank file with the gold trees", show_default=False)],
    predicted: Annotated[
        Path | None, typer.Argument(help="Treebank file with predicted trees (or give --model)")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Pipeline that parses the gold words: name or path")
    ] = None,
    gold_tags: Annotated[
        bool, typer.Option("--gold-tags", help="Give the pipeline the gold tags, morphology and lemmas")
    ] = False,
    sents: Annotated[
        Boundaries, typer.Option("--sents", help="Sentence boundaries for the pipeline")
    ] = Boundaries.gold,
    sents_per_doc: Annotated[
        int | None,
        typer.Option("--sents-per-doc", "-n", min=1, help="Sentences in a Doc (1, or 10 with --sents predicted)"),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="JSON file for the scores")] = None,
    save_parses: Annotated[
        Path | None, typer.Option("--save-parses", help="Treebank file for the parses of the pipeline")
    ] = None,
    format: FormatOption = None,
    encoding: EncodingOption = "utf8",
    gpu_id: GpuOption = -1,
) -> None:
    """Score trees by the rules of CoNLL-X, Universal Dependencies (CoNLL 2018) and spaCy, side by side.

    CoNLL-X leaves out words that are punctuation by their form and counts whole labels. UD counts all words,
    cuts labels at ":" and rejects files with a sentence of several roots. spaCy leaves out words labelled
    punct and gives F-scores.
    """
    if (predicted is None) == (model is None):
        raise EvaluationError("give either a file of predicted trees or --model, and not both")
    if save_parses is not None and model is None:
        raise EvaluationError("--save-parses needs --model")
    save_format = None if save_parses is None else find_format(save_parses)
    gold_sentences = list(read_treebank(gold, format, encoding=encoding))
    parsed: ParsedTreebank | None = None
    if model is not None:
        nlp = load_pipeline(model, gpu_id)
        parsed = _parse(nlp, gold_sentences, gold_tags=gold_tags, sents=sents, sents_per_doc=sents_per_doc)
        sentences = parsed.sentences
    else:
        sentences = list(read_treebank(predicted, format, encoding=encoding))
    results = evaluate_all(gold_sentences, sentences, parsed)
    report(results, parsed)
    if output is not None:
        write_scores(output, results, parsed)
    if save_parses is not None:
        count = write_treebank(save_parses, (to_format(each, save_format) for each in sentences))
        typer.echo(f"{save_parses}: {count} sentences")
    if all(isinstance(each, EvaluationError) for each in results.values()):
        raise typer.Exit(1)


def _parse(
    nlp: Language,
    gold: Sequence[TreebankSentence],
    *,
    gold_tags: bool,
    sents: Boundaries,
    sents_per_doc: int | None,
) -> ParsedTreebank:
    """Parse the gold words, after a line that states the conditions."""
    gold_sents = sents is Boundaries.gold
    # With one sentence a Doc, its end would give the boundary away.
    per_doc = sents_per_doc or (1 if gold_sents else 10)
    tags = "gold tags" if gold_tags else "the pipeline's own tags"
    typer.echo(f"gold words, {sents.value} sentence boundaries, {tags}, sentences a Doc: {per_doc}")
    return parse_with(nlp, gold, gold_tags=gold_tags, gold_sents=gold_sents, sents_per_doc=per_doc)


def evaluate_all(
    gold: Sequence[TreebankSentence],
    predicted: Sequence[TreebankSentence],
    parsed: ParsedTreebank | None = None,
) -> Results:
    """Each rule set's scores, or the sentence with which it rejects the trees."""

    def examples() -> list[Example]:
        return examples_from(gold, predicted, Vocab()) if parsed is None else parsed.examples

    results: Results = {}
    for name, evaluation in (
        ("CoNLL-X", lambda: evaluate_conllx(gold, predicted)),
        ("UD", lambda: evaluate_ud(gold, predicted)),
        ("spaCy", lambda: evaluate_spacy(examples())),
        ("non-projective", lambda: evaluate_nonprojective(gold, predicted)),
    ):
        try:
            results[name] = evaluation()
        except EvaluationError as error:
            results[name] = error
    return results


def report(results: Results, parsed: ParsedTreebank | None) -> None:
    """Print the table of the three rule sets, then non-projective arcs and speed."""
    typer.echo(format_table({name: each for name, each in results.items() if name != "non-projective"}))
    arcs = results["non-projective"]
    if isinstance(arcs, Evaluation):
        shown = ", ".join(
            f"{name} {'-' if value is None else format(value, '.2f')}" for name, value in arcs.scores.items()
        )
        counts = arcs.counts
        typer.echo(f"non-projective arcs: {shown} ({counts['gold arcs']} gold, {counts['predicted arcs']} predicted)")
    if parsed is not None:
        typer.echo(f"{parsed.words} words in {parsed.seconds:.2f} s, {parsed.words_per_second:.0f} words per second")


def write_scores(path: Path, results: Results, parsed: ParsedTreebank | None) -> None:
    """Write all scores as JSON, a rejection as {"rejected": reason}."""
    keys = {"CoNLL-X": "conllx", "UD": "ud", "spaCy": "spacy", "non-projective": "nonprojective"}
    scores: dict = {
        keys[name]: each.to_dict() if isinstance(each, Evaluation) else {"rejected": str(each)}
        for name, each in results.items()
    }
    if parsed is not None:
        scores["speed"] = {
            "words": parsed.words,
            "seconds": parsed.seconds,
            "words_per_second": parsed.words_per_second,
        }
    with replacing(path) as file:
        file.write((json.dumps(scores, indent=2, ensure_ascii=False) + "\n").encode("utf8"))
