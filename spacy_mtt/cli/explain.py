"""`mtt explain`: pictures of how sure a parser is of a text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spacy_mtt.cli._util import GpuOption, components_before, fail, load_pipeline, one_sentence_errors, parser_of
from spacy_mtt.treebanks.writing import replacing_folder


@one_sentence_errors
def explain(
    text: Annotated[str, typer.Argument(help="Text to parse", show_default=False)],
    model: Annotated[str, typer.Option("--model", "-m", help="Pipeline with an mtt_parser")] = "training/model-best",
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the pictures; replaced")] = Path(
        "explained"
    ),
    runner_ups: Annotated[int, typer.Option("--runner-ups", min=0, help="Other heads of a word, at most")] = 2,
    at_least: Annotated[float, typer.Option(min=0, max=1, help="Other heads of at least this probability")] = 0.05,
    compact: Annotated[bool, typer.Option("--compact", help="Draw square arcs, which take less room")] = False,
    gpu_id: GpuOption = -1,
) -> None:
    """Draw the parse of a text by the probability of its arcs, likely other heads dashed, and all arcs as a heat map.

    Writes index.html with all pictures, and for each sentence arcs-1.svg and marginals-1.svg.
    """
    nlp = load_pipeline(model, gpu_id)
    parser = parser_of(nlp)
    with nlp.select_pipes(enable=components_before(nlp, gold_tags=False)):
        doc = nlp(text)
    explanation = parser.explain(doc, runner_ups=runner_ups, at_least=at_least)
    if not explanation.sentences:
        fail("the text has no word")
    if output.exists() and not (output / "index.html").exists():
        fail(f"{output} exists and was not written by this command; give another --output")
    with replacing_folder(output) as folder:
        folder.mkdir(parents=True)
        (folder / "index.html").write_text(explanation.to_html(page=True, compact=compact), encoding="utf8")
        for number, sentence in enumerate(explanation.sentences, 1):
            (folder / f"arcs-{number}.svg").write_text(sentence.arcs_svg(compact=compact), encoding="utf8")
            (folder / f"marginals-{number}.svg").write_text(sentence.heat_map_svg(), encoding="utf8")
    for number, sentence in enumerate(explanation.sentences, 1):
        doubtful = min(sentence.parse, key=lambda arc: arc.prob)
        word = sentence.words[doubtful.modifier - 1]
        typer.echo(f"{number}. {' '.join(sentence.words)}\n   least sure: the head of {word!r}, {doubtful.prob:.3f}")
    typer.echo(f"{output}/index.html: {len(explanation.sentences)} sentences")
