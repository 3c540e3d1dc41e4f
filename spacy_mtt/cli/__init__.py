"""`python -m spacy mtt`: commands around treebanks and parsers.

Importing this module adds them to spaCy's own.
"""

import typer
from spacy.cli._util import app as _spacy_app

from spacy_mtt.cli.calibrate import calibrate
from spacy_mtt.cli.check import check
from spacy_mtt.cli.convert import convert
from spacy_mtt.cli.evaluate import evaluate
from spacy_mtt.cli.explain import explain
from spacy_mtt.cli.fetch import fetch
from spacy_mtt.cli.fill_config import fill_config
from spacy_mtt.cli.parse import parse
from spacy_mtt.cli.prepare import prepare
from spacy_mtt.cli.show import show
from spacy_mtt.cli.suggest import suggest
from spacy_mtt.cli.train_linear import train_linear

HELP = (
    "Treebanks: fetch, check, convert, show, what to annotate next. "
    "Parsers: train linear ones, evaluate, calibrate, explain, parse corpora."
)
WITH_OVERRIDES = {"allow_extra_args": True, "ignore_unknown_options": True}

app = typer.Typer(name="mtt", help=HELP, no_args_is_help=True, rich_markup_mode=None)
app.command()(calibrate)
app.command()(check)
app.command()(convert)
app.command()(evaluate)
app.command()(explain)
app.command()(fetch)
app.command("fill-config")(fill_config)
app.command()(parse)
app.command()(prepare)
app.command()(show)
app.command()(suggest)
app.command("train-linear", context_settings=WITH_OVERRIDES)(train_linear)
_spacy_app.add_typer(app, name="mtt")

__all__ = ["app"]
