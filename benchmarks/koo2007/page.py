"""docs/koo2007.md, written from the outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean

from benchmarks.koo2007 import paper
from benchmarks.koo2007.methods import METHODS
from benchmarks.koo2007.prose import HEADER, REPEATING
from benchmarks.koo2007.protocol import SETTINGS
from benchmarks.koo2007.report import RISK_SETTING, Outcome, Setting, total
from benchmarks.koo2007.sign_test import SignTest
from benchmarks.koo2007.titles import title_of

Rows = list[list[str]]


def page(outcomes: Sequence[Outcome], missing: Sequence[str]) -> str:
    """The whole Markdown page; `missing` are treebanks that are not done."""
    parts = [HEADER]
    if missing:
        parts.append(f"Not run to the end, so not in the tables: {', '.join(missing)}.")
    if outcomes:
        sections = (table_1, table_2, table_3, against_perceptron, spaces, claims, risk, meta_parameters)
        parts += filter(None, (section(outcomes) for section in sections))
    return "\n\n".join([*parts, REPEATING]) + "\n"


def markdown(columns: Sequence[str], rows: Rows, text_columns: int = 1) -> str:
    """A table; all but the first columns are numbers."""
    rules = [" --- " if place < text_columns else " ---: " for place in range(len(columns))]
    lines = ["| " + " | ".join(columns) + " |", "|" + "|".join(rules) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def table_1(outcomes: Sequence[Outcome]) -> str:
    """The data, as in table 1 of the paper."""
    rows = []
    for each in outcomes:
        train, validation, test = (each.statistics[part] for part in ("train", "validation", "test"))
        crossing = 100 * (train.crossing + validation.crossing) / (train.arcs + validation.arcs)
        sizes = [f"{part.words:,}" for part in (train, validation, test)]
        title = title_of(each.name)
        root = "single" if each.single_root else "multi"
        rows.append([title.language, f"{crossing:.2f}", *sizes, f"{test.sentences:,}", root, title.data or each.name])
    columns = ("", "%cd", "train", "validation", "test", "test sentences", "root", "data")
    return (
        "## Table 1: the data\n\nCrossing arcs in percent of all arcs of the training and validation parts (%cd; "
        "arcs from the root at position 0 included), words of each part with punctuation, and whether the trees are "
        "single-root or multi-root: multi-root where a training or validation sentence has several roots, since a "
        "single-root model could learn nothing from such sentences.\n\n" + markdown(columns, rows)
    )


def table_2(outcomes: Sequence[Outcome]) -> str:
    """The six settings, each followed by the paper's figures where it has the language."""
    rows = []
    for each in outcomes:
        title = title_of(each.name)
        rows.append([title.language, *(f"{each.uas(setting):.2f}" for setting in SETTINGS)])
        if title.paper:
            rows.append([f"*{title.paper}, paper*", *(f"*{value:.2f}*" for value in paper.TABLE_2[title.paper])])
    means = [fmean(each.uas(setting) for each in outcomes) for setting in SETTINGS]
    rows.append([f"average of {len(outcomes)}", *(f"{mean:.2f}" for mean in means)])
    columns = ("", *(f"{METHODS[name].title} {'p' if projective else 'np'}" for name, projective in SETTINGS))
    return (
        "## Table 2: six ways to train\n\nUAS on the test part, projective (p) and non-projective (np) training.\n\n"
        + markdown(columns, rows)
    )


def table_3(outcomes: Sequence[Outcome]) -> str:
    """The three methods, projective or non-projective training chosen on validation, in the paper's layout."""
    columns = ["", *(title_of(each.name).language for each in outcomes), "AV"]
    rows = []
    for place, name in enumerate(METHODS):
        values = [each.uas(each.by_validation(name)) for each in outcomes]
        rows.append([METHODS[name].title, *(f"{value:.2f}" for value in values), f"{fmean(values):.2f}"])
        theirs = [paper.TABLE_3[language][place] if language else None for language in languages(outcomes)]
        shown = [f"*{value:.2f}*" if value is not None else "" for value in theirs]
        rows.append(["*paper*", *shown, f"*{paper.AVERAGE_3[place]:.2f}*"])
    return (
        "## Table 3: three methods\n\nUAS on the test part, with the kind of training that is better on the validation "
        "part. The paper's average is over its own six languages.\n\n" + markdown(columns, rows)
    )


def languages(outcomes: Sequence[Outcome]) -> list[str | None]:
    """The language of the paper that belongs to each treebank."""
    return [title_of(each.name).paper for each in outcomes]


def against_perceptron(outcomes: Sequence[Outcome]) -> str:
    """Sign tests between the methods as in table 3."""
    pairs = list(combinations(reversed(METHODS), 2))
    rows = tests_by_treebank(
        outcomes,
        pairs,
        lambda each, pair: each.sign_test(each.by_validation(pair[0]), each.by_validation(pair[1])),
    )
    columns = ("", *(f"{METHODS[ours].title} over {METHODS[theirs].title}" for ours, theirs in pairs))
    theirs = "; ".join(f"{name} {better}/{worse}" for name, (better, worse) in paper.SIGN_TESTS.items())
    return (
        "## Sign tests: methods\n\nSentences of the test part on which the first method has more heads right / fewer, "
        "and the two-sided p of the sign test, ties left out; settings as in table 3. The paper, over the perceptron, "
        f"of {paper.SENTENCES:,} sentences: {theirs}, p <= 0.001 each.\n\n" + markdown(columns, rows)
    )


def spaces(outcomes: Sequence[Outcome]) -> str:
    """Sign tests of non-projective against projective training."""
    rows = tests_by_treebank(outcomes, list(METHODS), lambda each, name: each.sign_test((name, False), (name, True)))
    columns = ("", *(method.title for method in METHODS.values()))
    return (
        "## Sign tests: non-projective over projective training\n\nAs above, for the two settings of each method.\n\n"
        + markdown(columns, rows)
    )


def tests_by_treebank(outcomes: Sequence[Outcome], keys: Sequence, test: Callable[..., SignTest]) -> Rows:
    """A row for each treebank and one for all."""
    rows, columns = [], [[test(each, key) for each in outcomes] for key in keys]
    for place, each in enumerate(outcomes):
        rows.append([title_of(each.name).language, *(shown(column[place]) for column in columns)])
    return [*rows, ["all", *(shown(total(column)) for column in columns)]]


def shown(test: SignTest) -> str:
    """A sign test as a cell."""
    return f"{test.better}/{test.worse}, p = {test.p:.2g}"


def claims(outcomes: Sequence[Outcome]) -> str:
    """What the paper claims, and what was found here."""
    lines = []
    perceptron = [each.uas(each.by_validation("perceptron")) for each in outcomes]
    for name in ("log-linear", "max-margin"):
        ours = [each.uas(each.by_validation(name)) for each in outcomes]
        test = total([each.sign_test(each.by_validation(name), each.by_validation("perceptron")) for each in outcomes])
        ahead = fmean(ours) - fmean(perceptron)
        holds = ahead > 0 and test.better > test.worse and test.p < 0.01
        lines.append(
            f"- *{METHODS[name].title} is better than the perceptron*: {verdict(holds)} {ahead:+.2f} points of UAS on "
            f"average ({count(outcomes)}), {shown(test)}."
        )
    for each in outcomes:
        if title_of(each.name).language == "Dutch":
            lines += [dutch(each, name) for name in METHODS]
            best = max(each.uas(each.by_validation(name)) for name in METHODS)
            by_risk = each.risk[1]["UAS"] if each.risk else 0.0
            lines.append(
                f"- *Dutch with at least 80.0*: {verdict(max(best, by_risk) >= 80.0)} The best of table 3 has "
                f"{best:.2f}, the paper's best 79.69 from twice as many sentences"
                + (f"; decoded by minimum risk, log-linear: {by_risk:.2f}." if by_risk else ".")
            )
    return "## What holds\n\n" + "\n".join(lines)


def risk(outcomes: Sequence[Outcome]) -> str:
    """Decoding by minimum risk, where it was run."""
    rows = []
    for each in outcomes:
        if each.risk is None:
            continue
        choice, result = each.risk
        test = SignTest.of(result["correct"], each.results[RISK_SETTING]["correct"])
        cells = [f"{choice.C:g}", f"{choice.passes}", f"{choice.uas:.2f}", f"{result['UAS']:.2f}"]
        rows.append([title_of(each.name).language, f"{each.uas(RISK_SETTING):.2f}", *cells, shown(test)])
    if not rows:
        return ""
    columns = ("", "UAS of table 2", "C", "passes", "UAS validation", "UAS test", "sign test")
    return (
        "## Minimum risk\n\nNot in the paper: log-linear models from non-projective trees, decoded by the tree with "
        "the largest expected number of right heads in place of the most probable one. C and passes are chosen on the "
        "validation part as decoded in this way. Written after `python -m benchmarks.koo2007.minimum_risk`.\n\n"
        + markdown(columns, rows)
    )


def dutch(each: Outcome, name: str) -> str:
    """The claim on non-projective training, for one method."""
    settings: tuple[Setting, Setting] = ((name, False), (name, True))
    ahead = each.uas(settings[0]) - each.uas(settings[1])
    test = each.sign_test(*settings)
    return (
        f"- *Dutch, {METHODS[name].title}: non-projective training is better*: {verdict(ahead > 0)} "
        f"{ahead:+.2f} points, {shown(test)}."
    )


def count(outcomes: Sequence[Outcome]) -> str:
    """How many treebanks."""
    return "1 treebank" if len(outcomes) == 1 else f"{len(outcomes)} treebanks"


def verdict(holds: bool) -> str:
    """The first word on a claim."""
    return "holds." if holds else "does not hold."


def meta_parameters(outcomes: Sequence[Outcome]) -> str:
    """What was chosen on the validation part."""
    rows = []
    for each in outcomes:
        for setting in SETTINGS:
            choice, (name, projective) = each.choices[setting], setting
            constant = "" if choice.C is None else f"{choice.C:g}"
            kind = f"{METHODS[name].title} {'p' if projective else 'np'}"
            features = f"{each.results[setting]['features']:,}"
            cells = [f"{choice.passes}", f"{choice.uas:.2f}", f"{each.uas(setting):.2f}", features]
            rows.append([title_of(each.name).language, kind, choice.decoding, constant, *cells])
    columns = ("", "training", "decoding", "C", "passes", "UAS validation", "UAS test", "features")
    spent = ", ".join(f"{title_of(each.name).language} {each.seconds / 60:.0f}" for each in outcomes)
    return (
        "## Chosen on the validation part\n\n"
        + markdown(columns, rows, text_columns=3)
        + f"\n\nMinutes of processor time for all runs of a treebank, on one core of a shared machine: {spent}."
    )
