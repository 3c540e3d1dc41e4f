"""Train, save and load a parser with the installed package, from a folder without its sources; no test framework.

Run by tests/test_packaging.py, and on every platform that wheels are built on.
"""

import numpy
import spacy
from spacy.tokens import Doc
from spacy.training import Example

import spacy_mtt


def main() -> None:
    """Prints the labels of "it works"."""
    assert "site-packages" in spacy_mtt.__file__, spacy_mtt.__file__
    assert abs(spacy_mtt.TreeDistribution(numpy.zeros((4, 4))).log_partition - numpy.log(9)) < 1e-12
    nlp = spacy.blank("xx")
    nlp.add_pipe("mtt_parser")
    gold = Doc(nlp.vocab, words=["it", "works"], heads=[1, 1], deps=["nsubj", "ROOT"])
    examples = [Example(Doc(nlp.vocab, words=["it", "works"]), gold)]
    optimizer = nlp.initialize(lambda: examples)
    for _ in range(30):
        nlp.update(examples, sgd=optimizer)
    nlp.to_disk("pipeline")
    print([token.dep_ for token in spacy.load("pipeline")("it works")])


if __name__ == "__main__":
    main()
