"""Explanations say what the distribution says, and their pictures show it, in a browser too."""

import json
import re
import shutil
import subprocess
from xml.etree import ElementTree

import numpy as np
import pytest
import spacy
from spacy import displacy
from spacy.tokens import Doc
from typer.testing import CliRunner

from spacy_mtt.cli import app
from spacy_mtt.pipeline.explanation import Explanation
from spacy_mtt.view.arcs import LEAST_OPACITY, ArcRenderer
from spacy_mtt.view.heat_map import heat_map
from tests.pipeline.helpers import SENTENCES
from tests.pipeline.test_probabilities import LABELLED, soft_parser

TEXT = "the cat saw a small dog . what did you talk << about ."
SVG = "{http://www.w3.org/2000/svg}"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.fixture(scope="module", params=[{}, LABELLED], ids=["plain", "labelled"])
def nlp(request):
    return soft_parser(**request.param)[0]


@pytest.fixture(scope="module")
def doc(nlp) -> Doc:
    words = [*SENTENCES[0][0].split(), " ", *SENTENCES[2][0].split()]
    starts = [word in (0, 7) for word in range(len(words))]
    return Doc(nlp.vocab, words=words, sent_starts=starts)


@pytest.fixture(scope="module")
def explanation(nlp, doc) -> Explanation:
    return nlp.get_pipe("mtt_parser").explain(doc, runner_ups=2, at_least=0.01)


def test_it_is_what_the_parser_says(nlp, doc, explanation):
    parser = nlp.get_pipe("mtt_parser")
    parsed = doc.copy()
    parser.set_annotations([parsed], parser.predict([parsed]))
    asked = zip(explanation.sentences, parser.distribution(doc), parser.candidates(doc, 3), strict=True)
    for found, trees, candidates in asked:
        tokens = [parsed[token] for token in trees.tokens.tolist()]
        assert found.words == [token.text for token in tokens]
        np.testing.assert_allclose(found.marginals, trees.marginals)
        heads = [0 if token.head == token else tokens.index(token.head) + 1 for token in tokens]
        assert [(arc.head, arc.label) for arc in found.parse] == [
            (head, token.dep_) for head, token in zip(heads, tokens, strict=True)
        ]
        for arc in found.parse + found.runner_ups:
            assert arc.prob == pytest.approx(trees.marginals[arc.head, arc.modifier])
        expected = {
            (int(head), modifier)
            for modifier, row in enumerate(candidates.heads, 1)
            for head in [other for other in row if other not in (heads[modifier - 1], modifier)][:2]
            if trees.marginals[head, modifier] >= 0.01
        }
        assert {(arc.head, arc.modifier) for arc in found.runner_ups} == expected
        assert expected, "else this shows nothing"
        assert found.entropy == pytest.approx(trees.trees.entropy)


def test_an_explained_doc_stays_as_it_was(doc, explanation):
    assert not doc.has_annotation("DEP") and explanation.sentences


def test_constraints_hold_in_it(nlp, doc):
    copy = doc.copy()
    copy._.mtt_constraints = {"roots": [0]}
    first, _ = nlp.get_pipe("mtt_parser").explain(copy).sentences
    assert (first.parse[0].head, first.parse[0].prob) == (0, pytest.approx(1.0))


def test_long_words_are_cut_in_pictures(nlp):
    (found,) = nlp.get_pipe("mtt_parser").explain(Doc(nlp.vocab, words=["x" * 10_000, "cat"])).sentences
    assert found.words[0] == "x" * 10_000
    for svg in (found.arcs_svg(), found.heat_map_svg()):
        assert float(ElementTree.fromstring(svg).get("width")) < 2000 and "x" * 23 + "…" in svg


@pytest.mark.parametrize("words", [[], [" "]])
def test_nothing_to_explain(nlp, words):
    explanation = nlp.get_pipe("mtt_parser").explain(Doc(nlp.vocab, words=words))
    assert explanation.sentences == [] and "no word" in explanation.to_html(page=True)


@pytest.mark.parametrize("wrong", [{"runner_ups": -1}, {"at_least": 1.5}, {"at_least": float("nan")}])
def test_bad_arguments(nlp, doc, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        nlp.get_pipe("mtt_parser").explain(doc, **wrong)


def test_arcs_are_drawn_by_probability_and_runner_ups_dashed(explanation):
    for sentence in explanation.sentences:
        root = ElementTree.fromstring(sentence.arcs_svg())
        groups = [each for each in root.iter(f"{SVG}g") if "displacy-arrow" in each.get("class")]
        arcs = sentence.parse + sentence.runner_ups
        assert len(groups) == len(arcs)
        for group, arc, runner_up in zip(
            groups, arcs, [False] * len(sentence.parse) + [True] * len(sentence.runner_ups), strict=True
        ):
            (opacity,) = re.findall(r"opacity: ([\d.]+)", group.get("style"))
            assert float(opacity) == pytest.approx(LEAST_OPACITY + (1 - LEAST_OPACITY) * arc.prob, abs=1e-3)
            assert ("stroke-dasharray" in group.get("style")) == runner_up
            assert "".join(group.itertext()).strip() == f"{arc.label} {arc.prob:.2f}"


def test_displacy_draws_the_same_data(explanation):
    data = explanation.sentences[0].displacy()
    drawn = displacy.render(json.loads(json.dumps(data)), style="dep", manual=True, jupyter=False)
    assert drawn.count('class="displacy-arrow"') == len(data["arcs"])


def test_the_renderer_draws_displacys_own_data_as_displacy_does():
    words = [{"text": "a", "tag": "DET"}, {"text": "cat", "tag": "NOUN"}]
    arcs = [{"start": 0, "end": 1, "label": "det", "dir": "left"}]
    ours = ArcRenderer({}).render_svg("x", words, arcs)
    theirs = displacy.DependencyRenderer({}).render_svg("x", words, arcs)
    assert ours.replace(' style="opacity: 1.000"', "") == theirs


def test_what_is_no_xml_is_escaped():
    words = [{"text": "<b>", "tag": "<&>"}, {"text": "&", "tag": ""}]
    arcs = [{"start": 0, "end": 1, "label": "<x>", "dir": "left", "prob": 0.5}]
    assert "<x> 0.50" in "".join(
        ElementTree.fromstring(ArcRenderer({}).draw({"words": words, "arcs": arcs})).itertext()
    )
    assert ElementTree.fromstring(heat_map(["<", "&", '"'], np.full((3, 3), 0.5), np.array([0, 1]))) is not None


def test_the_heat_map_has_a_cell_for_each_arc(explanation):
    for sentence in explanation.sentences:
        root = ElementTree.fromstring(sentence.heat_map_svg())
        cells = {
            each.find(f"{SVG}title").text: each for each in root.iter(f"{SVG}rect") if each.get("class") == "mtt-cell"
        }
        names = ["ROOT", *sentence.words]
        for (head, modifier), probability in np.ndenumerate(sentence.marginals):
            name = f"{names[head]} → {names[modifier]}: {probability:.4f}"
            assert (name in cells) == (probability >= 0.001)
            if name in cells:
                assert float(cells[name].get("fill-opacity")) == pytest.approx(probability, abs=1e-3)
        chosen = [each for each in root.iter(f"{SVG}rect") if each.get("class") == "mtt-chosen"]
        at = {(each.get("x"), each.get("y")) for each in chosen}
        assert len(chosen) == len(at) == len(sentence.words)


def test_heat_maps_of_wrong_shapes():
    with pytest.raises(ValueError, match="2 words need marginals of shape"):
        heat_map(["ROOT", "a", "b"], np.zeros((2, 2)), np.zeros(2, dtype=int))


def test_columns_run_from_right_to_left_where_the_text_does():
    marginals = np.array([[0, 1.0, 0], [0, 0, 1.0], [0, 0, 0]])
    for direction, expected in (("ltr", 1), ("rtl", -1)):
        root = ElementTree.fromstring(heat_map(["ROOT", "a", "b"], marginals, np.array([0, 1]), direction=direction))
        first, second = (int(each.get("x")) for each in root.iter(f"{SVG}rect") if each.get("class") == "mtt-cell")
        assert np.sign(second - first) == expected


def test_a_jupyter_cell_shows_it(explanation):
    interactiveshell = pytest.importorskip("IPython.core.interactiveshell")
    formats, _ = interactiveshell.InteractiveShell.instance().display_formatter.format(explanation)
    assert formats["text/html"].count("<svg") == 2 * len(explanation.sentences)


# ---- the command


@pytest.fixture(scope="module")
def folder(nlp, tmp_path_factory):
    path = tmp_path_factory.mktemp("explain")
    nlp.add_pipe("sentencizer", first=True)
    nlp.to_disk(path / "model")
    nlp.remove_pipe("sentencizer")
    options = ["--model", str(path / "model"), "--output", str(path / "out"), "--at-least", "0.01"]
    result = CliRunner().invoke(app, ["explain", TEXT, *options])
    assert result.exit_code == 0, result.output
    assert "out/index.html: 2 sentences" in result.output and "least sure: the head of" in result.output
    return path / "out"


def test_the_command_writes_a_page_and_its_pictures(folder):
    assert sorted(path.name for path in folder.iterdir()) == [
        "arcs-1.svg",
        "arcs-2.svg",
        "index.html",
        "marginals-1.svg",
        "marginals-2.svg",
    ]
    page = (folder / "index.html").read_text(encoding="utf8")
    for path in folder.glob("*.svg"):
        ElementTree.parse(path)
        assert path.read_text(encoding="utf8") in page


def test_other_folders_are_not_replaced(folder, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    options = ["--model", str(folder.parent / "model"), "--output", str(tmp_path)]
    result = CliRunner().invoke(app, ["explain", "a cat", *options])
    assert result.exit_code == 1 and "was not written by this command" in result.output
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_texts_without_words(folder):
    result = CliRunner().invoke(app, ["explain", " ", "--model", str(folder.parent / "model")])
    assert result.exit_code == 1 and "no word" in result.output


# ---- in a browser

LOOK = """<script>
const boxes = [...document.querySelectorAll("svg")].map(svg => {
    const frame = svg.getBoundingClientRect();
    return [...svg.querySelectorAll("path, rect, text:not(:has(textPath))")].map(part => {
        const box = part.getBoundingClientRect();
        return {kind: part.getAttribute("class") || part.tagName, text: part.textContent.trim(),
                left: box.left - frame.left, right: box.right - frame.right, top: box.top - frame.top,
                bottom: box.bottom - frame.bottom, area: box.width * box.height};
    });
});
document.body.innerHTML = "";
document.body.appendChild(document.createTextNode(JSON.stringify(boxes)));
</script>"""


@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (on Debian: apt install chromium)")
def test_a_browser_shows_every_part_of_the_pictures(folder, tmp_path):
    page = (folder / "index.html").read_text(encoding="utf8")
    looked_at = tmp_path / "page.html"
    looked_at.write_text(page.replace("</body>", LOOK + "</body>"), encoding="utf8")
    flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    dumped = subprocess.run(
        [CHROMIUM, *flags, "--window-size=1600,1200", "--dump-dom", looked_at.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    (found,) = re.findall(r"<body[^>]*>(.*)</body>", dumped, re.DOTALL)
    pictures = json.loads(re.sub("<[^>]*>", "", found).replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))
    words = [[token.text for token in sentence] for sentence in spacy.load(folder.parent / "model")(TEXT).sents]
    assert len(pictures) == 4 and len(words) == 2
    for number, parts in enumerate(pictures):
        texts = [part["text"].split()[0] for part in parts if part["kind"] in ("displacy-token", "mtt-head")]
        assert texts == ["ROOT", *words[number // 2]]
        for part in parts:
            at = f"{part['kind']} {part['text']}: {part}"
            assert part["left"] >= -1 and part["right"] <= 1 and part["top"] >= -1 and part["bottom"] <= 1, at
            assert part["area"] > 0 or part["text"] == "", at
