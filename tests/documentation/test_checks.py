"""The checks of the documentation find what is wrong."""

import re
import shlex

import pytest

from .commands import check_command, command_lines, run_module
from .pages import ROOT, Block, blocks_of
from .running import Page, shortened, takes_long, with_parents

PAGE = """\
# Title

<!-- needs: torch -->
```python
print(1)
```

prints

```text
1
```
"""


@pytest.fixture
def page(monkeypatch, tmp_path):
    """Writes a page and gives its blocks."""
    monkeypatch.setattr("tests.documentation.pages.ROOT", tmp_path)

    def write(text: str) -> list[Block]:
        (tmp_path / "page.md").write_text(text, encoding="utf8")
        return blocks_of(tmp_path / "page.md")

    return write


def test_blocks_have_their_language_lines_and_marks(page):
    code, output = page(PAGE)
    assert (code.language, code.text, code.place, code.mark, code.why) == (
        "python",
        "print(1)\n",
        "page.md:5",
        "needs",
        "torch",
    )
    assert output.is_output and not code.is_output and output.mark == ""


@pytest.mark.parametrize(
    "text, message",
    [("```python\n", "page.md: a fence is not closed"), ("<!-- nneds: x -->\n```python\n```\n", "'nneds' is none of")],
)
def test_broken_pages_are_errors(page, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        page(text)


def run(blocks: list[Block]) -> None:
    running = Page()
    for block in blocks:
        running.run(block)


@pytest.mark.parametrize(
    "text, message",
    [
        ("```python\nprint(2)\n```\n```text\n1\n```\n", "what is printed is\n2"),
        ("```python\nassert False, 'no'\n```\n", "no"),
        ("```text\n1\n```\n", "output of nothing"),
        ("```ini\n[paths]\ntrain = null\n```\n```\n1\n```\n", "output of nothing"),
        ("```rust\n```\n", "no test for 'rust'"),
        ("```bash\nls\n```\n", "cannot run ls"),
        ("```bash\npython -m spacy mtt check missing.conllu\n```\n", "missing.conllu: no such file"),
        ("<!-- not run: long -->\n```bash\npython -m spacy mtt check --fast\n```\n", "has no --fast"),
    ],
)
def test_what_is_not_so_fails(page, tmp_path, monkeypatch, text, message):
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    for name in ("train", "dev"):
        (tmp_path / f"{name}.conllu").write_text("1\tgo\t_\t_\t_\t_\t0\troot\t_\t_\n\n", encoding="utf8")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AssertionError, match=re.escape(message)):
        run(page(text))


def test_blocks_share_names_and_output_is_compared_without_spaces_at_ends(page):
    run(page("```python\nx = 2\n```\n```python\nprint(x, '')\n```\n```text\n2\n```\n"))


@pytest.mark.parametrize(
    "command",
    [
        "python -m spacy mtt suggest m texts.txt out.conllu --by token -k 3",
        "python -m spacy train configs/recommended.cfg --paths.train x --training.max_steps 2 --output y -g 0",
        "python3 -m spacy project run treebank . --vars.treebank UD_Latin-Perseus",
        "python -m benchmarks.robustness --quick",
        'pip install -e ".[docs]"',
    ],
)
def test_commands_that_exist(command):
    check_command(shlex.split(command))


@pytest.mark.parametrize(
    "command, message",
    [
        ("python -m spaci train", "no module spaci"),
        ("python -m spacy mtt sugest", "no command sugest"),
        ("python -m spacy mtt suggest --buy token", "has no --buy"),
        ("python -m spacy train configs/recommended.cfg --training.steps 2", "no setting --training.steps"),
        ("python -m spacy project run everything", "no workflow everything"),
        ("python -m spacy project run treebank . --vars.bank x", "no variable bank"),
        ("python -m benchmarks.robustness --quic", "has no --quic"),
        ('pip install -e ".[dox]"', "no extra dox"),
        ("make docs", "not checked: make docs"),
    ],
)
def test_commands_that_do_not_exist(command, message):
    with pytest.raises(AssertionError, match=re.escape(message)):
        check_command(shlex.split(command))


def test_bash_is_cut_into_commands():
    text = "python -m a \\\n    --b 'c d'  # why\n\n# nothing\npython -m e && python -m f\n"
    assert list(command_lines(text)) == [
        ["python", "-m", "a", "--b", "c d"],
        ["python", "-m", "e"],
        ["python", "-m", "f"],
    ]


def test_trainings_are_shortened_and_what_takes_long_is_not_run():
    assert shortened(["spacy", "train", "x.cfg"])[-4:] == [
        "--training.max_steps",
        "1",
        "--training.eval_frequency",
        "1",
    ]
    assert shortened(["spacy", "mtt", "train-linear", "x.cfg"])[-2:] == ["--passes", "1"]
    assert shortened(["spacy", "mtt", "check", "x"]) == ["mtt", "check", "x"]
    assert takes_long(["python", "-m", "benchmarks.inference"]) and takes_long(["pip", "install", "x"])
    assert takes_long(shlex.split("python -m spacy project run x")) and not takes_long(
        shlex.split("python -m spacy train")
    )


def test_modules_run_in_this_process(capsys):
    assert "Usage" in run_module("spacy", ["mtt", "--help"])
    with pytest.raises(AssertionError, match="exit code 2"):
        run_module("spacy", ["mtt", "check", "--what"])


def test_parts_of_configs_get_the_sections_above():
    assert with_parents("[a.b.c]\nx = 1\n[a]\n") == "[a.b]\n[a.b.c]\nx = 1\n[a]\n"
