"""The folder that the pages work in: what they say a reader has.

configs/, project.yml    those of the repository
train.conllu, dev.conllu, test.conllu    a few sentences of the embedded English treebank
half.conllu              test.conllu, every other word without its head
texts.txt                a text a line
pairs.conllu             each two of the shortest sentences of train.conllu
training/model-best      a pipeline that knows these by heart, so that what it says of them is the same everywhere
"""

from __future__ import annotations

import shutil
from itertools import islice, permutations
from pathlib import Path

from spacy.language import Language
from spacy.training.initialize import init_nlp
from spacy.training.loop import train
from spacy.util import load_config

from spacy_mtt.treebanks.conversion import to_conllu
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.sentence import MISSING, TreebankSentence
from spacy_mtt.treebanks.writing import write_treebank

from .pages import ROOT

TREEBANK = ROOT / "assets" / "grammar-english"
PARTS = {"train": 30, "dev": 12, "test": 12}
TEXTS = ["A singer admired Lucy. Which play does a son speak about?", "Which painter do some teachers notice?"]
SHORT = 10  # words
STEPS = 40


def make_workplace(folder: Path) -> Path:
    """Fill an empty folder."""
    shutil.copytree(ROOT / "configs", folder / "configs")
    shutil.copy(ROOT / "project.yml", folder)
    for part, count in PARTS.items():
        sentences = islice(read_treebank(TREEBANK / f"{part}.conll"), count)
        write_treebank(folder / f"{part}.conllu", map(to_conllu, sentences))
    write_treebank(folder / "half.conllu", map(_half_annotated, read_treebank(folder / "test.conllu")))
    (folder / "texts.txt").write_text("".join(f"{text}\n" for text in TEXTS), encoding="utf8")
    short = [sentence for sentence in read_treebank(folder / "train.conllu") if len(sentence) < SHORT]
    write_treebank(folder / "pairs.conllu", (sentence for pair in permutations(short, 2) for sentence in pair))
    (folder / "training").mkdir()
    tiny_pipeline(folder).to_disk(folder / "training" / "model-best")
    return folder


def _half_annotated(sentence: TreebankSentence) -> TreebankSentence:
    heads, deprels = sentence.heads.copy(), list(sentence.deprels)
    heads[::2], deprels[::2] = -1, [MISSING] * len(deprels[::2])
    return sentence.with_tree(heads, deprels)


def tiny_pipeline(folder: Path) -> Language:
    """The recommended parser, but narrow and without dropout, after some steps on the folder's pairs of sentences."""
    model = "components.mtt_parser.model"
    overrides = {
        "paths.train": str(folder / "pairs.conllu"),
        "paths.dev": str(folder / "dev.conllu"),
        f"{model}.arc_width": 48,
        f"{model}.label_width": 24,
        f"{model}.vector_dropout": 0.0,
        f"{model}.hidden_dropout": 0.0,
        f"{model}.segmenter.dropout": 0.0,
        f"{model}.tok2vec.embed.width": 32,
        f"{model}.tok2vec.embed.form_rows": 500,
        f"{model}.tok2vec.embed.affix_rows": 300,
        f"{model}.tok2vec.embed.shape_rows": 100,
        f"{model}.tok2vec.embed.dropout": 0.0,
        f"{model}.tok2vec.encode.width": 48,
        "corpora.train.sents_per_doc": 2,
        "training.dropout": 0.0,
        "training.max_steps": STEPS,
        "training.eval_frequency": STEPS,
        "training.optimizer.use_averages": False,
        "training.optimizer.learn_rate.warmup_steps": 1,
        "training.optimizer.learn_rate.initial_rate": 0.01,
    }
    nlp = init_nlp(load_config(ROOT / "configs" / "recommended.cfg", overrides=overrides, interpolate=False))
    train(nlp, use_gpu=-1)
    return nlp
