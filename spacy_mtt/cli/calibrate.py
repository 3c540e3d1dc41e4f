"""`mtt calibrate`: fit the temperature of a parser's probabilities to a treebank, and show how reliable they are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from spacy.language import Language
from spacy.training import Example

from spacy_mtt.cli._util import (
    EncodingOption,
    FormatOption,
    GpuOption,
    components_before,
    load_pipeline,
    one_sentence_errors,
    parser_of,
)
from spacy_mtt.pipeline.calibration import BINS, Reliability
from spacy_mtt.treebanks.corpus import TreebankCorpus
from spacy_mtt.treebanks.writing import replacing_folder


@one_sentence_errors
def calibrate(
    model: Annotated[str, typer.Argument(help="Pipeline with an mtt_parser: name or path", show_default=False)],
    treebank: Annotated[Path, typer.Argument(help="Treebank file to fit to, a dev part", show_default=False)],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Folder for the pipeline with the temperature in it")
    ] = None,
    gold_tags: Annotated[bool, typer.Option("--gold-tags", help="Give the pipeline the tags of the treebank")] = False,
    sents_per_doc: Annotated[int, typer.Option("--sents-per-doc", "-n", min=1, help="Sentences in a Doc")] = 1,
    format: FormatOption = None,
    encoding: EncodingOption = "utf8",
    gpu_id: GpuOption = -1,
) -> None:
    """Fit the temperature by which scores are divided where they become probabilities. Trees do not change.

    Prints the expected calibration error of predicted heads before and after, and how often heads of each probability
    are right.
    """
    nlp = load_pipeline(model, gpu_id)
    parser = parser_of(nlp)
    corpus = TreebankCorpus(
        treebank, format=format, encoding=encoding, gold_tags=gold_tags, sents_per_doc=sents_per_doc
    )
    examples = annotated(nlp, list(corpus(nlp)), gold_tags=gold_tags)
    before = parser.reliability(examples)
    temperature = parser.fit_temperature(examples)
    after = parser.reliability(examples)
    typer.echo(f"temperature {temperature:.3f}")
    typer.echo(f"expected calibration error {before.ece:.4f} before, {after.ece:.4f} after")
    typer.echo(table(after))
    if output is not None:
        with replacing_folder(output) as folder:
            nlp.to_disk(folder)
        typer.echo(f"saved: {output}")


def annotated(nlp: Language, examples: list[Example], *, gold_tags: bool) -> list[Example]:
    """The examples as the parser will see them."""
    with nlp.select_pipes(enable=components_before(nlp, gold_tags=gold_tags)):
        docs = list(nlp.pipe([example.predicted for example in examples]))
    return [Example(doc, example.reference) for doc, example in zip(docs, examples, strict=True)]


def table(reliability: Reliability) -> str:
    """A line for each bin."""
    rows = ["probability |  words | mean probability | right"]
    for number in range(BINS):
        cells = (reliability.counts[number], reliability.confidence[number], reliability.accuracy[number])
        rows.append(
            f"{number / BINS:.1f} to {(number + 1) / BINS:.1f}  | {cells[0]:>6} | {cells[1]:16.3f} | {cells[2]:5.3f}"
        )
    return "\n".join(rows)
