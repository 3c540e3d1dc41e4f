"""Doing what the blocks of a page say, in order, in one namespace and one folder, the current one."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
from pathlib import Path
from typing import Any

from spacy.schemas import ConfigSchemaTraining
from spacy.util import load_config, load_model_from_config, registry, resolve_dot_names
from thinc.api import Config

from spacy_mtt.treebanks.assets import read_assets
from spacy_mtt.treebanks.reading import read_treebank

from .commands import PYTHON, check_command, command_lines, run_module
from .pages import Block

PATHS = {"train": "train.conllu", "dev": "dev.conllu"}
SHORT = {
    ("train",): ["--training.max_steps", "1", "--training.eval_frequency", "1"],
    ("mtt", "train-linear"): ["--passes", "1"],
}


class Page:
    """Runs the blocks of one page."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__main__"}
        self.printed: str | None = None  # by the last block that ran

    def run(self, block: Block) -> None:
        """AssertionError, or the block's own, if it does not do what it says."""
        if block.is_output:
            self._compare(block)
            return
        self.printed = None
        assert block.language in LANGUAGES, f"{block.place}: no test for {block.language!r}"
        LANGUAGES[block.language](self, block)

    def python(self, block: Block) -> None:
        """Run it; if it needs a package that is not there, only compile it."""
        code = compile("\n" * (block.line - 1) + block.text, str(block.page), "exec")  # so that line numbers are right
        if block.mark == "needs" and not importlib.util.find_spec(block.why):
            return
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, self.namespace)
        self.printed = printed.getvalue()

    def bash(self, block: Block) -> None:
        """Run its commands, trainings shortened; of those that cannot be, check that they exist."""
        self.printed = ""
        for words in command_lines(block.text):
            if block.mark in ("not run", "command") or takes_long(words):
                check_command(words)
            else:
                assert words[0] in PYTHON and words[1] == "-m", f"{block.place}: cannot run {shlex.join(words)}"
                self.printed += run_module(words[2], shortened(words[2:]))

    def ini(self, block: Block) -> None:
        """Put it into the recommended config, which then must load, with all that it names."""
        given = Config().from_str(with_parents(block.text), interpolate=False)
        config = load_config("configs/recommended.cfg").merge(given)
        nlp = load_model_from_config(config.merge({"paths": PATHS}), auto_fill=True)
        settings = nlp.config.interpolate()
        training = registry.resolve(settings["training"], schema=ConfigSchemaTraining)
        resolve_dot_names(settings, [training["train_corpus"], training["dev_corpus"]])

    def yaml(self, block: Block) -> None:
        """A list of assets of project.yml."""
        Path("some.yml").write_text(f"assets:\n{block.text}", encoding="utf8")
        assert read_assets(Path("some.yml"))

    def conllu(self, block: Block) -> None:
        """Sentences of a treebank without an error."""
        Path("some.conllu").write_text(f"{block.text}\n", encoding="utf8")
        assert list(read_treebank("some.conllu"))

    def nothing(self, block: Block) -> None:
        """Nothing to do: for people, or for Sphinx, whose build complains."""

    def _compare(self, block: Block) -> None:
        assert self.printed is not None, f"{block.place}: output of nothing (give the block a language)"
        if block.mark != "varies":
            assert lines_of(self.printed) == lines_of(block.text), f"{block.place}: what is printed is\n{self.printed}"


LANGUAGES = {
    "python": Page.python,
    "bash": Page.bash,
    "ini": Page.ini,
    "yaml": Page.yaml,
    "conllu": Page.conllu,
    "bibtex": Page.nothing,
    "{toctree}": Page.nothing,
}


def takes_long(words: list[str]) -> bool:
    """Whether a command installs something, trains on treebanks or measures: then it is only checked."""
    module, arguments = (words[2], words[3:]) if words[0] in PYTHON else ("", [])
    return words[0] == "pip" or module.startswith("benchmarks.") or arguments[:2] == ["project", "run"]


def shortened(words: list[str]) -> list[str]:
    """The arguments of a command after its module, with what makes a training short."""
    arguments = words[1:]
    if words[0] == "spacy":
        for command, options in SHORT.items():
            if tuple(arguments[: len(command)]) == command:
                return [*arguments, *options]
    return arguments


def with_parents(text: str) -> str:
    """A part of a config with the sections above its own, without which it cannot be read."""
    named = re.findall(r"^\[([\w.]+)\]$", text, re.MULTILINE)
    parents = {".".join(parts[:size]) for parts in (name.split(".") for name in named) for size in range(1, len(parts))}
    return "".join(f"[{name}]\n" for name in sorted(parents - set(named))) + text


def lines_of(text: str) -> list[str]:
    """The lines without white space at their ends."""
    return [line.rstrip() for line in text.strip().splitlines()]
