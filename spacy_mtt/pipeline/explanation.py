"""How sure a parser is of each sentence of a doc, to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from spacy.displacy import get_doc_settings
from spacy.tokens import Doc
from spacy.util import escape_html

from spacy_mtt.view.arcs import ArcRenderer
from spacy_mtt.view.heat_map import heat_map

from .decoders import Decoder
from .queries import DocTrees, SentenceTrees
from .suggestions import Candidates, candidates

ROOT = "ROOT"
LONGEST = 24  # letters of a word in a picture
LETTER, SMALL, ROOM = 11, 9, 40  # pixels of a letter of a word, of one of a label, and around them
PAGE = """<!DOCTYPE html>
<html lang="{lang}">
<head><meta charset="utf-8"><title>{title}</title></head>
<body style="font-family: Arial, sans-serif; padding: 2rem; direction: {dir}">
{content}</body>
</html>
"""
FIGURE = '<figure style="margin: 0 0 4rem"><figcaption>{caption}</figcaption>{pictures}</figure>\n'
PICTURE = '<div style="overflow-x: auto; margin: 1rem 0">{svg}</div>'


@dataclass(frozen=True)
class ProbableArc:
    """An arc and its probability. head: node 0..n, 0 the root. modifier: node 1..n. label: the likeliest there."""

    head: int
    modifier: int
    label: str
    prob: float


@dataclass(frozen=True)
class ExplainedSentence:
    """A sentence of n words.

    words, tags: of its words. parse: the n arcs of the parse. runner_ups: likely other arcs.
    marginals: (n+1, n+1), the probabilities of all arcs. log_prob, entropy: of the tree, and of all trees, in nats.
    settings: displaCy's, the language and the direction of writing.
    """

    words: list[str]
    tags: list[str]
    parse: list[ProbableArc]
    runner_ups: list[ProbableArc]
    marginals: np.ndarray
    log_prob: float
    entropy: float
    settings: dict[str, str]

    def displacy(self) -> dict[str, Any]:
        """As displaCy draws it with `manual=True`: the root is a word before the others, `prob` and `runner_up` are
        keys of arcs that displaCy does not look at."""
        words = [{"text": ROOT, "tag": ""}]
        words += [{"text": word, "tag": tag} for word, tag in zip(self._shown, self.tags, strict=True)]
        arcs = [self._drawn(arc, runner_up=False) for arc in self.parse]
        arcs += [self._drawn(arc, runner_up=True) for arc in self.runner_ups]
        return {"words": words, "arcs": arcs, "settings": dict(self.settings)}

    @property
    def _shown(self) -> list[str]:
        return [word if len(word) <= LONGEST else word[: LONGEST - 1] + "…" for word in self.words]

    @staticmethod
    def _drawn(arc: ProbableArc, *, runner_up: bool) -> dict[str, Any]:
        return {
            "start": min(arc.head, arc.modifier),
            "end": max(arc.head, arc.modifier),
            "dir": "left" if arc.modifier < arc.head else "right",
            "label": arc.label,
            "prob": round(arc.prob, 6),
            "runner_up": runner_up,
        }

    def arcs_svg(self, **options: Any) -> str:
        """The arcs as SVG: the parse, and dashed what else is likely. options: displaCy's."""
        word = max(map(len, self._shown))
        label = max(len(f"{arc.label} {arc.prob:.2f}") for arc in self.parse + self.runner_ups)
        fitting = {"distance": max(LETTER * word, SMALL * label) + ROOM, "arrow_spacing": 8}
        return ArcRenderer({**fitting, **options}).draw(self.displacy())

    def heat_map_svg(self) -> str:
        """The probabilities of all arcs as SVG: heads are rows, modifiers columns."""
        heads = np.array([arc.head for arc in self.parse])
        return heat_map([ROOT, *self._shown], self.marginals, heads, **self.settings)


@dataclass(frozen=True)
class Explanation:
    """That of a doc; shown by itself as the value of a Jupyter cell."""

    sentences: list[ExplainedSentence]

    def to_html(self, *, page: bool = False, **options: Any) -> str:
        """Arcs and heat map of each sentence, as a part of a page or as a whole one. options: displaCy's, for arcs."""
        content = "".join(_figure(each, options) for each in self.sentences) or "<p>There is no word.</p>\n"
        if not page:
            return content
        title = escape_html(" ".join(self.sentences[0].words)) if self.sentences else "no word"
        settings = self.sentences[0].settings if self.sentences else {"lang": "", "direction": "ltr"}
        return PAGE.format(content=content, title=title, lang=settings["lang"], dir=settings["direction"])

    def _repr_html_(self) -> str:
        return f'<span class="tex2jax_ignore">{self.to_html()}</span>'  # or Jupyter takes $ for mathematics


def _figure(sentence: ExplainedSentence, options: dict[str, Any]) -> str:
    caption = (
        f"{escape_html(' '.join(sentence.words))}<br>probability of the tree {np.exp(sentence.log_prob):.3g}, "
        f"entropy of the trees {sentence.entropy:.3g} nats"
    )
    pictures = (PICTURE.format(svg=svg) for svg in (sentence.arcs_svg(**options), sentence.heat_map_svg()))
    return FIGURE.format(caption=caption, pictures="".join(pictures))


def explain(trees: DocTrees, decoder: Decoder, *, runner_ups: int, at_least: float) -> Explanation:
    """See `Questions.explain`."""
    if runner_ups < 0:
        raise ValueError(f"runner_ups is {runner_ups}, but must be 0 or more")
    if not 0 <= at_least <= 1:
        raise ValueError(f"at_least is {at_least}, but must be a probability, from 0 to 1")
    if trees.scores is None:
        return Explanation([])
    decoded = trees.reader.decode(trees.scores, decoder, sure=True)
    units = zip(
        trees.sentences(),
        trees.units.split(decoded.heads),
        trees.units.split(decoded.labels),
        candidates(trees, runner_ups + 1),
        decoded.units["log_prob"].tolist(),
        strict=True,
    )
    return Explanation(
        [
            _explained(trees.doc, sentence, heads, labels, _others(heads, found, runner_ups), at_least, log_prob)
            for sentence, heads, labels, found, log_prob in units
        ]
    )


def _others(heads: np.ndarray, found: Candidates, runner_ups: int) -> list[tuple[int, int, int]]:
    """The candidates that are not of the parse, (head, modifier, label) each; so many of a word, best first."""
    others = []
    rows = zip(heads.tolist(), found.heads.tolist(), found.labels.tolist(), strict=True)
    for modifier, (head, *own) in enumerate(rows, 1):
        rest = ((other, modifier, label) for other, label in zip(*own, strict=True) if other not in (head, modifier))
        others += islice(rest, runner_ups)
    return others


def _explained(
    doc: Doc,
    sentence: SentenceTrees,
    heads: np.ndarray,
    labels: np.ndarray,
    others: list[tuple[int, int, int]],
    at_least: float,
    log_prob: float,
) -> ExplainedSentence:
    marginals = sentence.marginals

    def arc(head: int, modifier: int, label: int) -> ProbableArc:
        return ProbableArc(head, modifier, sentence.labels[label], float(marginals[head, modifier]))

    words = [doc[token] for token in sentence.tokens.tolist()]
    return ExplainedSentence(
        words=[word.text for word in words],
        tags=[word.pos_ or word.tag_ for word in words],
        parse=[arc(*each) for each in zip(heads.tolist(), range(1, len(heads) + 1), labels.tolist(), strict=True)],
        runner_ups=[each for each in (arc(*other) for other in others) if each.prob >= at_least],
        marginals=marginals,
        log_prob=log_prob,
        entropy=float(sentence.trees.entropy),
        settings=get_doc_settings(doc),
    )
