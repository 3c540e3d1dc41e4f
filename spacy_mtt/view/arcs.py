"""Arcs as displaCy draws them, by their probability."""

from __future__ import annotations

import hashlib
from typing import Any

import srsly
from spacy.displacy.render import DependencyRenderer
from spacy.util import escape_html

OTHER_COLOR = "#b3541e"
DASHES = "5 4"
LEAST_OPACITY = 0.4  # of an arc, so that an improbable one can still be seen
GROUP = '<g class="displacy-arrow">'  # how an arc begins in displaCy's template


class ArcRenderer(DependencyRenderer):
    """displaCy's renderer, for its own data and options. Arcs may have two more keys:

    prob: the probability, by which the arc is more or less black, and which is written beside its label.
    runner_up: True for an arc that is not of the parse; it is dashed, and of another colour.
    """

    def draw(self, parse: dict[str, Any]) -> str:
        """The SVG of one parse in displaCy's format (`words`, `arcs`, `settings`); the same for the same parse."""
        settings = parse.get("settings", {})
        self.direction = settings.get("direction", self.direction)
        self.lang = settings.get("lang", self.lang)
        name = hashlib.sha1(srsly.json_dumps(parse).encode("utf8")).hexdigest()[:12]
        return self.render_svg(f"mtt-{name}", parse["words"], parse["arcs"]).strip() + "\n"

    def render_svg(self, render_id: int | str, words: list[dict[str, Any]], arcs: list[dict[str, Any]]) -> str:
        """See displaCy; it escapes words, and here tags and labels, too."""
        self._arcs = [{**arc, "label": _label(arc)} for arc in arcs]
        words = [{**word, "tag": escape_html(word["tag"])} for word in words]
        return super().render_svg(render_id, words, self._arcs)

    def render_arrow(self, label: str, start: int, end: int, direction: str, i: int) -> str:
        """See displaCy."""
        drawn, arc = super().render_arrow(label, start, end, direction, i), self._arcs[i]
        opacity = LEAST_OPACITY + (1 - LEAST_OPACITY) * arc.get("prob", 1.0)
        style, kind = f"opacity: {opacity:.3f}", "displacy-arrow"
        if arc.get("runner_up"):
            style += f"; color: {OTHER_COLOR}; stroke-dasharray: {DASHES}"
            kind += " mtt-runner-up"
        return drawn.replace(GROUP, f'<g class="{kind}" style="{style}">')


def _label(arc: dict[str, Any]) -> str:
    label = escape_html(arc["label"])
    return f"{label} {arc['prob']:.2f}".strip() if "prob" in arc else label
