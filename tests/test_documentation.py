"""What README and docs say is what happens."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A block that needs more than the package stands after the line "<!-- needs: torch -->".
BLOCK_AND_NEEDS = re.compile(r"(?:^<!-- needs: (\w+) -->\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_demo_prints_what_the_readme_shows():
    blocks = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf8"))
    (place,) = [i for i, (kind, _) in enumerate(blocks) if kind == "text"]
    (kind, code), (_, expected) = blocks[place - 1], blocks[place]
    assert kind == "python"
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert printed.getvalue() == expected


PYTHON_BLOCKS = [
    pytest.param(code, needs, id=f"{page.name}:{number}")
    for page in PAGES
    for number, (needs, kind, code) in enumerate(BLOCK_AND_NEEDS.findall(page.read_text(encoding="utf8")))
    if kind == "python"
]


@pytest.mark.parametrize("code, needs", PYTHON_BLOCKS)
def test_python_blocks_run(code, needs):
    if needs:
        pytest.importorskip(needs)
    exec(compile(code, "documentation", "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
