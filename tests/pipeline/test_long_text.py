"""Long texts: memory is that of the longest sentence, and the time of many sentences is the sum of theirs."""

import subprocess
import sys

import pytest

pytest.importorskip("resource")

PARSE = """
import resource, sys
from spacy.tokens import Doc
from tests.pipeline.helpers import random_parser
n, length = int(sys.argv[1]), int(sys.argv[2])
nlp = random_parser()
nlp("go")
unit = 1 if sys.platform == "darwin" else 1024
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
words = ["she", "slept", "go", "a", "dog"] * (n // 5)
doc = nlp(Doc(nlp.vocab, words=words, sent_starts=[place % length == 0 for place in range(n)]))
assert len(list(doc.sents)) == n // length
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit - before)
"""


def peak_memory(n: int, length: int) -> int:
    """The bytes that a fresh process needs to parse n words in sentences of some length."""
    run = subprocess.run([sys.executable, "-c", PARSE, str(n), str(length)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return int(run.stdout)


def test_a_sentence_of_5000_words_takes_few_bytes_an_arc():
    assert peak_memory(5000, 5000) < 28 * 5000**2


def test_memory_of_many_sentences_is_not_that_of_all_their_arcs():
    assert peak_memory(40_000, 500) < 80e6  # all arcs in float32 alone are 80 MB
