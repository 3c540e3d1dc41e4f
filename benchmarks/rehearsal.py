"""A trained parser learns on from another treebank: what it gains there and what it forgets, with rehearsal or not.

    python -m benchmarks.rehearsal MODEL --old UD_English-EWT --new UD_English-ParTUT --from FOLDER

Updates of 500 words each from the train part of the new treebank; with rehearsal each is followed by rehearsals of 500
words of the old one, of which only the text is used. Both dev parts are scored, with gold boundaries. Test parts are
not touched. Writes docs/benchmarks/rehearsal.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import chain, repeat
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.training import Example
from spacy.training.batchers import minibatch_by_words
from thinc.api import Adam, fix_random_seed
from tqdm import tqdm

from benchmarks.accuracy.__main__ import prepared
from benchmarks.accuracy.contenders import SENTENCES_PER_DOC
from benchmarks.accuracy.jobs import add_folders
from spacy_mtt.cli.evaluate import evaluate_all
from spacy_mtt.treebanks.corpus import TreebankCorpus
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.pipelines import parse_with
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.writing import replacing

WORDS = 500
COLUMNS = ("UAS", "LAS")


def examples_of(nlp: Language, folder: Path) -> list[Example]:
    """The training part in docs of ten sentences without boundaries."""
    corpus = TreebankCorpus(folder / "train.conllu", gold_sents=False, sents_per_doc=SENTENCES_PER_DOC)
    return list(corpus(nlp))


def batches(examples: list[Example]) -> Iterator[list[Example]]:
    """All of them, again and again."""
    return chain.from_iterable(minibatch_by_words(each, size=WORDS) for each in repeat(examples))


def learn_on(nlp: Language, folders: dict[str, Path], options: argparse.Namespace, *, rehearse: bool) -> None:
    """Update the pipeline from the new treebank."""
    fix_random_seed(options.seed)
    old, new = (examples_of(nlp, folders[name]) for name in ("old", "new"))
    for label in sorted({token.dep_ for example in new for token in example.reference if token.dep}):
        nlp.get_pipe(options.parser).add_label(label)
    nlp.resume_training()
    optimizer, old, new = Adam(options.rate), batches(old), batches(new)
    for _ in tqdm(range(options.steps), desc="with rehearsal" if rehearse else "without", disable=None):
        nlp.update(next(new), sgd=optimizer)
        for _ in range(options.rehearsals if rehearse else 0):
            nlp.rehearse(next(old), sgd=optimizer)


def scores(nlp: Language, folders: dict[str, Path]) -> list[float]:
    """UAS and LAS on both dev parts by the rules of CoNLL-X, the old treebank first."""
    found = []
    for name in ("old", "new"):
        sentences = list(read_treebank(folders[name] / "dev.conllu"))
        parsed = parse_with(nlp, sentences, gold_sents=True, sents_per_doc=SENTENCES_PER_DOC)
        result = evaluate_all(sentences, parsed.sentences, parsed)["CoNLL-X"]
        found += [result.scores[score] for score in COLUMNS]
    return found


def page(rows: dict[str, list[float]], options: argparse.Namespace) -> str:
    """The table in Markdown."""
    names = [f"{treebank} {score}" for treebank in (options.old, options.new) for score in COLUMNS]
    given = f"--old {options.old} --new {options.new} --steps {options.steps} --rate {options.rate:g}"
    given += f" --rehearsals {options.rehearsals}"
    command = f"python -m benchmarks.rehearsal MODEL {given} --seed {options.seed}"
    lines = [
        "# Learning on, with and without rehearsal",
        "",
        f"Written by `{command}` with a model of `configs/recommended.cfg` for {options.old}: updates of {WORDS} words "
        f"of {options.new}, with rehearsal followed by {options.rehearsals} rehearsals of {WORDS} words of text of "
        f"{options.old}, at a constant learning rate. Dev parts, gold boundaries, by the rules of CoNLL-X.",
        "",
        f"| | {' | '.join(names)} |",
        "|---|" + "---:|" * len(names),
        *(f"| {name} | {' | '.join(f'{value:.2f}' for value in values)} |" for name, values in rows.items()),
    ]
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="path or package of a pipeline that was trained on the old treebank")
    parser.add_argument("--old", required=True, metavar="NAME")
    parser.add_argument("--new", required=True, metavar="NAME")
    parser.add_argument("--parser", default="mtt_parser", help="name of the parser in the pipeline")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rehearsals", type=int, default=3, help="after each update")
    parser.add_argument("--rate", type=float, default=0.0005)
    parser.add_argument("--seed", type=int, default=0)
    add_folders(parser)
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks/rehearsal.md"))
    options = parser.parse_args(arguments)
    folders = {"old": options.corpus / options.old, "new": options.corpus / options.new}
    try:
        for name in (options.old, options.new):
            prepared(name, options.project.resolve(), options.folder, options.corpus)
    except TreebankError as error:
        sys.exit(f"error: {error}")
    rows = {"before": scores(spacy.load(options.model), folders)}
    for name, rehearse in (("after, without rehearsal", False), ("after, with rehearsal", True)):
        nlp = spacy.load(options.model)
        learn_on(nlp, folders, options, rehearse=rehearse)
        rows[name] = scores(nlp, folders)
    text = page(rows, options)
    print(text)
    with replacing(options.out) as file:
        file.write(text.encode("utf8"))


if __name__ == "__main__":
    main()
