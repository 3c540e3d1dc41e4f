"""Whether a command that is not run could be: its module, its subcommand and each of its options exist."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import runpy
import shlex
import sys
from collections.abc import Iterator
from functools import cache, reduce
from operator import getitem

import click
import spacy
import srsly
import typer.main
from spacy.cli._util import app

from .pages import ROOT

PYTHON = ("python", "python3", ".venv/bin/python")


def command_lines(text: str) -> Iterator[list[str]]:
    """The words of each command of a bash block: lines may be continued, and commands follow each other with &&."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        while words:
            end = words.index("&&") if "&&" in words else len(words)
            yield words[:end]
            words = words[end + 1 :]


def check_command(words: list[str]) -> None:
    """AssertionError if something that the command names does not exist."""
    if words[0] == "pip" or words[1:3] == ["-m", "pip"]:
        return _check_extras(words)
    assert words[0] in PYTHON and words[1] == "-m", f"not checked: {shlex.join(words)}"
    module, arguments = words[2], words[3:]
    assert importlib.util.find_spec(module), f"there is no module {module}"
    if module == "spacy":
        _check_spacy(arguments)
    elif module.startswith("benchmarks."):
        missing = [each for each in _options(arguments) if not re.search(rf"(?<![\w-]){each}(?![\w-])", _help(module))]
        assert not missing, f"{module} has no {', '.join(missing)}"


def _check_spacy(arguments: list[str]) -> None:
    command, rest = spacy_command(arguments)
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help"}
    options = _options(rest)
    if arguments[:1] == ["train"] or arguments[:2] == ["mtt", "train-linear"]:
        _check_settings(ROOT / rest[0], [each for each in options if "." in each])
        options = [each for each in options if "." not in each]
    elif arguments[:2] == ["project", "run"]:
        _check_workflow(rest[0], [each for each in options if each.startswith("--vars.")])
        options = [each for each in options if not each.startswith("--vars.")]
    missing = set(options) - known
    assert not missing, f"spacy {command.name} has no {', '.join(missing)}"


def spacy_command(arguments: list[str]) -> tuple[click.Command, list[str]]:
    """The command that the words after `python -m spacy` name, and the words after it."""
    spacy.util.registry.cli.get_all()  # what `python -m spacy` does to find the commands of plugins
    command = typer.main.get_command(app)
    rest = list(arguments)
    while hasattr(command, "commands") and rest and rest[0] not in ("--help", "..."):
        assert rest[0] in command.commands, f"spacy {command.name} has no command {rest[0]}"
        command = command.commands[rest.pop(0)]
    return command, rest


def _check_settings(config_path, overrides: list[str]) -> None:
    config = spacy.util.load_config(config_path, interpolate=True)
    for each in overrides:
        *sections, name = each.removeprefix("--").split(".")
        assert name in reduce(getitem, sections, config), f"{config_path.name} has no setting {each}"


def _check_workflow(name: str, variables: list[str]) -> None:
    project = srsly.read_yaml(ROOT / "project.yml")
    assert name in {*project["workflows"], *(each["name"] for each in project["commands"])}, f"no workflow {name}"
    missing = {each.removeprefix("--vars.") for each in variables} - set(project["vars"])
    assert not missing, f"project.yml has no variable {', '.join(missing)}"


def _check_extras(words: list[str]) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf8")
    for extra in re.findall(r"\.\[(\w+)\]", " ".join(words)):
        assert re.search(rf"^{extra} = \[", text, re.MULTILINE), f"pyproject.toml has no extra {extra}"


def _options(words: list[str]) -> list[str]:
    return [word.split("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)]


@cache
def _help(module: str) -> str:
    """What `python -m MODULE --help` prints."""
    return run_module(module, ["--help"])


def run_module(module: str, arguments: list[str]) -> str:
    """`python -m MODULE ARGUMENTS` in this process, which saves the seconds of its imports: the output stream.

    AssertionError with both streams for another exit code than 0.
    """
    out, err, argv = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = [module, *arguments]  # its first word is replaced by the path of the module
    code: object = 0
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            runpy.run_module(module, run_name="__main__", alter_sys=True)
    except SystemExit as stop:
        code = stop.code
    finally:
        sys.argv = argv
    assert not code, f"{module} {shlex.join(arguments)}: exit code {code}\n{out.getvalue()}{err.getvalue()}"
    return re.sub(r"\x1b\[[\d;]*m", "", out.getvalue())
