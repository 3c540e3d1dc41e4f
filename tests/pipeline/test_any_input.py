"""Documents as nobody wrote them: the parse is a tree for each sentence, and the same in every batch and process.

SPACY_MTT_CASES=10000 tries so many of each kind.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc

from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.evaluation.ud import evaluate_ud
from spacy_mtt.treebanks.from_docs import doc_to_sentences
from spacy_mtt.treebanks.reading import parse_treebank
from spacy_mtt.treebanks.sentence import CONLLU
from spacy_mtt.treebanks.writing import treebank_texts
from tests.pipeline.helpers import examples, parse_of, trained_parser

CASES = int(os.environ.get("SPACY_MTT_CASES", "60"))
cases = settings(max_examples=CASES, deadline=None, derandomize=True)

ODD = [
    "\u200b",
    "e\u0301\u0302\u0303",
    "👩‍👩‍👧‍👦",
    "שלום",
    "مرحبا",
    "\u202eabc",
    "\ufeff",
    "\x00",
    "\ud7ff",
    "ﬁ",
    "İ",
    "x" * 10_000,
    "𝔘",
]
SPACES = [" ", "\n\n", "\t", "\u3000", "\xa0"]
TOKENS = st.one_of(
    st.sampled_from(["the", "cat", "saw", "."]),
    st.sampled_from(ODD),
    st.sampled_from(SPACES),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5),
)
RUNS = st.tuples(TOKENS, st.integers(1, 300)).map(lambda run: [run[0]] * run[1])  # hundreds of equal words


@st.composite
def documents(draw):
    """Words, whether a space follows each, and where sentences start."""
    words = draw(st.one_of(st.lists(TOKENS, max_size=30), RUNS))
    spaces = [draw(st.booleans())] * len(words)
    starts = draw(st.one_of(st.just([None]), st.lists(st.sampled_from([True, False, None]), min_size=1, max_size=9)))
    return words, spaces, [starts[i % len(starts)] for i in range(len(words))]


@pytest.fixture(scope="module", params=["recommended", "linear"])
def nlp(request):
    """A parser that finds sentences, and one that does not."""
    if request.param == "linear":
        from tests.pipeline.linear_helpers import OBJECTIVES, linear_pipeline, plain_steps, train

        linear, data = linear_pipeline(OBJECTIVES["perceptron"], count=20)
        train(linear, data, plain_steps(averages=True), 2)
        return linear
    made = spacy.blank("xx")
    made.add_pipe("mtt_parser")
    gold = Doc.from_docs([example.reference for example in examples(made)])
    data = [spacy.training.Example(Doc(made.vocab, words=[token.text for token in gold]), gold)]
    optimizer = made.initialize(lambda: data)
    for _ in range(10):
        made.update(data, sgd=optimizer)
    return made


def made(nlp, drawn) -> Doc:
    words, spaces, starts = drawn
    return Doc(nlp.vocab, words=words, spaces=spaces, sent_starts=starts)


def check_trees(doc: Doc, starts: list) -> None:
    for token, start in list(zip(doc, starts, strict=True))[1:]:
        assert start is None or token.is_sent_start == start
    for sentence in doc.sents:
        roots = [token for token in sentence if token.head == token]
        assert len(roots) == 1, sentence
        assert all(sentence.start <= token.head.i < sentence.end for token in sentence)
        reached, waiting = set(), [roots[0]]
        while waiting:
            token = waiting.pop()
            assert token.i not in reached
            reached.add(token.i)
            children = list(token.children)
            assert all(child.head == token for child in children)
            assert token.n_lefts + token.n_rights == len(children)
            waiting += children
        assert reached == set(range(sentence.start, sentence.end))
    assert all(token.dep for token in doc)


@cases
@given(drawn=documents())
def test_every_sentence_gets_one_tree(nlp, drawn):
    doc = nlp(made(nlp, drawn))
    assert [token.text for token in doc] == drawn[0]
    check_trees(doc, drawn[2])


def assert_same_parse(nlp, found: Doc, expected: Doc) -> None:
    """The same trees, or other ones of the same score but for rounding: among equal words there are many of those."""
    if parse_of(found) == parse_of(expected):
        return
    parser, loose = nlp.get_pipe("mtt_parser"), Doc(nlp.vocab, words=[token.text for token in expected])
    assert [token.is_sent_start for token in found] == [token.is_sent_start for token in expected]
    for token, other in zip(loose, expected, strict=True):
        token.is_sent_start = other.is_sent_start
    for sentence in parser.distribution(loose):
        log_probs = [sentence.trees.log_prob(heads_in(sentence.tokens.tolist(), doc)) for doc in (found, expected)]
        assert log_probs[0] == pytest.approx(log_probs[1], abs=1e-3)


def heads_in(tokens: list[int], doc: Doc) -> list[int]:
    """The heads of the words of a sentence, 0 for the root and words from 1."""
    return [0 if doc[i].head.i == i else tokens.index(doc[i].head.i) + 1 for i in tokens]


@cases
@given(drawn=st.lists(documents(), max_size=6), batch_size=st.integers(1, 7), data=st.data())
def test_results_do_not_depend_on_batches_or_order(nlp, drawn, batch_size, data):
    alone = [nlp(made(nlp, each)) for each in drawn]
    order = data.draw(st.permutations(range(len(drawn))))
    together = list(nlp.pipe([made(nlp, drawn[i]) for i in order], batch_size=batch_size))
    for doc, i in zip(together, order, strict=True):
        assert_same_parse(nlp, doc, alone[i])


PROCESSES = """
import multiprocessing, sys
import spacy

if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    nlp = spacy.load(sys.argv[2])
    texts = ["", " ", "the cat", "שלום 👩‍👩‍👧‍👦 the", "cat " * 50, "the cat saw . the dog sang ."] * 5
    alone = [[(token.head.i, token.dep_) for token in nlp(text)] for text in texts]
    docs = list(nlp.pipe(texts, n_process=2, batch_size=7))
    assert [[(token.head.i, token.dep_) for token in doc] for doc in docs] == alone
    print(len(docs), "equal")
"""


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_results_do_not_depend_on_processes(nlp, method, tmp_path):
    nlp.to_disk(tmp_path / "nlp")
    (tmp_path / "script.py").write_text(PROCESSES, encoding="utf8")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    command = [sys.executable, "-W", "ignore", str(tmp_path / "script.py"), method, str(tmp_path / "nlp")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.stdout.strip() == "30 equal", done.stderr


def test_merged_and_split_tokens_before_the_parser(nlp):
    doc = nlp.make_doc("the cat saw a dog in New York")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[6:8])
        retokenizer.split(doc[4], ["d", "og"], heads=[doc[4], doc[4]])
    check_trees(nlp(doc), [None] * len(doc))


def test_trained_parsers_stay_right_beside_odd_documents():
    nlp = trained_parser()
    good = "the cat saw a small dog"
    expected = parse_of(nlp(good))
    texts = [good, " ".join(ODD), good, "", good, " ", good]
    assert [parse_of(doc) for doc in nlp.pipe(texts)][::2] == [expected] * 4


@cases
@given(drawn=documents())
def test_what_is_written_can_be_read_and_scored(nlp, drawn):
    doc = nlp(made(nlp, drawn))
    try:
        sentences = doc_to_sentences(doc, CONLLU)
    except TreebankError as error:  # a column holds no tab or line break
        assert "cannot be written" in str(error) or "\t" in str(error) or "line break" in str(error), error
        assert any(set("\t\n\r") & set(word) for word in drawn[0] if not word.isspace())
        return
    text = "".join(treebank_texts(sentences))
    found = list(parse_treebank(text, CONLLU)) if sentences else []
    assert [each.forms for each in found] == [each.forms for each in sentences]
    assert [each.heads.tolist() for each in found] == [each.heads.tolist() for each in sentences]
    assert [word for each in found for word in each.forms] == [token.text for token in doc if not token.is_space]
    if found:  # the evaluator of CoNLL 2018 rejects what is no tree with one root
        assert evaluate_ud(found, sentences).scores["LAS"] == pytest.approx(100.0)
