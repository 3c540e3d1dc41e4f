"""The treebanks of the experiment, in the order in which they are run: the most important first, then small ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Title:
    """How tables name a treebank, and the language of the paper's tables that it is compared with, if any."""

    language: str
    paper: str | None
    data: str


TITLES = {
    "conllx-dutch-alpino6000": Title("Dutch", "Dutch", "CoNLL-X, 6,001 of 13,349 training sentences; official test"),
    "UD_Slovenian-SST": Title("Slovenian", "Slovene", "UD 1.4, spoken language; the paper: CoNLL-X, written"),
    "UD_Latin-Perseus": Title("Latin", None, "UD 1.4"),
    "UD_Turkish-IMST": Title("Turkish", "Turkish", "UD 2.16; the paper: CoNLL-X"),
    "conllx-basque-nltk": Title("Basque", None, "CoNLL 2007 as NLTK has it"),
    "conllx-danish-cdt": Title("Danish", None, "CDT; the documents of the CoNLL-X test set, with the CDT's own tags"),
    "UD_Japanese-GSD": Title("Japanese", "Japanese", "UD 1.4; the paper: CoNLL-X (Verbmobil)"),
    "conllx-portuguese-bosque3500": Title(
        "Portuguese", None, "CoNLL-X, 3,501 of 9,071 training sentences; official test"
    ),
    "conllx-spanish-nltk": Title("Spanish", "Spanish", "CoNLL 2007 as NLTK has it; the paper: CoNLL-X"),
    "UD_Arabic-PADT": Title("Arabic", "Arabic", "UD 1.2, its dev part to train on; the paper: CoNLL-X"),
}


def title_of(name: str) -> Title:
    """The title of a treebank; of one that is not among the ten, its own name."""
    return TITLES.get(name, Title(name, None, ""))
