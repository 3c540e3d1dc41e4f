"""What README and docs say is what happens: every code block of every page, its links, and the site."""

import re
import shutil
from pathlib import Path

import pytest

from tests.documentation.commands import check_command, command_lines
from tests.documentation.pages import PAGES, ROOT, blocks_of, inline_commands, name_of
from tests.documentation.running import Page
from tests.documentation.workplace import make_workplace

of_each_page = pytest.mark.parametrize("page", PAGES, ids=name_of)


@pytest.fixture(scope="session")
def made(tmp_path_factory) -> Path:
    return make_workplace(tmp_path_factory.mktemp("workplace"))


@pytest.fixture
def workplace(made, tmp_path, monkeypatch) -> Path:
    """A folder of its own for a page, the current one."""
    folder = shutil.copytree(made, tmp_path / "workplace")
    monkeypatch.chdir(folder)
    return folder


@of_each_page
def test_blocks_do_what_the_page_says(page, workplace):
    running = Page()
    for block in blocks_of(page):
        running.run(block)


@of_each_page
def test_commands_in_the_text_exist(page):
    for text in inline_commands(page):
        for words in command_lines(text):
            check_command(words)


@of_each_page
def test_relative_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", page.read_text(encoding="utf8")):
        assert (page.parent / target).exists(), f"{name_of(page)} links to {target}"


def test_the_site_builds_without_a_warning(tmp_path):
    build = pytest.importorskip("sphinx.cmd.build", reason="the site needs the extra docs")
    pytest.importorskip("myst_parser")
    options = ["-q", "-W", "--keep-going", "-b", "html", "-d", str(tmp_path / "doctrees")]
    assert build.build_main([*options, str(ROOT / "docs"), str(tmp_path / "site")]) == 0
    assert (tmp_path / "site" / "index.html").is_file()
