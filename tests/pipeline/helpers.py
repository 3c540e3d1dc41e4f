"""Small pipelines and sentences for the tests of the component; the sentences were written for them."""

from __future__ import annotations

import numpy as np
import spacy
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example

TINY = {
    "model": {
        "@architectures": "spacy_mtt.BiaffineParser.v1",
        "arc_width": 16,
        "label_width": 8,
        "hidden_dropout": 0.0,
        "vector_dropout": 0.0,
        "tok2vec": {
            "@architectures": "spacy.HashEmbedCNN.v2",
            "pretrained_vectors": None,
            "width": 16,
            "depth": 1,
            "embed_size": 200,
            "window_size": 1,
            "maxout_pieces": 2,
            "subword_features": True,
        },
    }
}

# words, heads (index of the head, own index for the root), labels; the second and third have crossing arcs
SENTENCES = [
    ("the cat saw a small dog", [1, 2, 2, 5, 5, 2], "det nsubj ROOT det amod obj"),
    ("a man came yesterday who sang", [1, 2, 2, 2, 5, 1], "det nsubj ROOT advmod nsubj relcl"),
    ("what did you talk about", [4, 3, 3, 3, 3], "pobj aux nsubj ROOT prep"),
    ("she slept", [1, 1], "nsubj ROOT"),
    ("go", [0], "ROOT"),
]


def gold_doc(vocab, sentence) -> Doc:
    words, heads, labels = sentence
    return Doc(vocab, words=words.split(), heads=heads, deps=labels.split())


def examples(nlp: Language, sentences=SENTENCES) -> list[Example]:
    docs = [gold_doc(nlp.vocab, sentence) for sentence in sentences]
    return [Example(Doc(nlp.vocab, words=[token.text for token in doc]), doc) for doc in docs]


def random_parser(seed: int = 0, **config) -> Language:
    """A pipeline with a tiny parser whose scores are random but not all equal."""
    spacy.util.fix_random_seed(seed)
    nlp = spacy.blank("xx")
    parser = nlp.add_pipe("mtt_parser", config={**TINY, **config})
    nlp.initialize(lambda: examples(nlp))
    rng = np.random.default_rng(seed)
    for name in ("arcs", "labels"):
        layer = parser.model.get_ref(name)
        for param in layer.param_names:
            shape = layer.get_param(param).shape
            layer.set_param(param, rng.normal(size=shape).astype(np.float32))
    return nlp


def trained_parser(steps: int = 80, sentences=SENTENCES, **config) -> Language:
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe("mtt_parser", config={**TINY, **config})
    data = examples(nlp, sentences)
    optimizer = nlp.initialize(lambda: data)
    for _ in range(steps):
        nlp.update(data, sgd=optimizer)
    return nlp


def parse_of(doc: Doc) -> list[tuple[int, str]]:
    return [(token.head.i, token.dep_) for token in doc]
