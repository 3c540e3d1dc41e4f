"""Figures worked out by hand for each rule set; the arithmetic stands beside them."""

import pytest
from spacy.vocab import Vocab

from spacy_mtt.treebanks.evaluation import (
    Evaluation,
    EvaluationError,
    evaluate_conllx,
    evaluate_nonprojective,
    evaluate_spacy,
    evaluate_ud,
    examples_from,
    format_table,
)
from spacy_mtt.treebanks.evaluation.conllx import is_punctuation
from tests.treebanks.samples import conllx_sentence, sentence, sentences


def approx(**scores):
    return pytest.approx(scores, abs=1e-9)


def spacy_scores(gold, predicted):
    return evaluate_spacy(examples_from(gold, predicted, Vocab())).scores


@pytest.mark.parametrize("form", [",", ".", "''", '"', "%", "#", "&", "*", "/", "@", "_", "(", "-", "...", "«", "。"])
def test_punctuation_by_form(form):
    assert is_punctuation(form)


@pytest.mark.parametrize("form", ["$", "+", "<", "=", "^", "`", "``", "|", "~", "°", "-LRB-", "a.", ".5", "£"])
def test_no_punctuation_by_form(form):
    assert not is_punctuation(form)


FORMS = ["He", "paid", "$", "5", "%", "''", "-LRB-", "."]
GOLD = conllx_sentence([2, 0, 2, 3, 4, 2, 2, 2], ["SBJ", "ROOT", "OBJ", "NUM", "P", "P", "P", "P"], FORMS)
PREDICTED = conllx_sentence([2, 0, 4, 2, 2, 2, 3, 1], ["SBJ", "ROOT", "OBJ", "NUM", "P", "P", "OBJ", "P"], FORMS)


def test_conllx_rules():
    # Punctuation by form: % '' . Scored: He paid $ 5 -LRB-. Heads right: He, paid. Labels wrong: -LRB-.
    result = evaluate_conllx([GOLD], [PREDICTED])
    assert result.scores == approx(UAS=40, LAS=40, LA=80)
    assert result.counts == {
        "scored words": 5,
        "correct heads": 2,
        "correct labels": 4,
        "correct heads and labels": 2,
        "punctuation": 3,
        "unannotated": 0,
    }
    # All eight: '' is right, % and . have the wrong head.
    assert evaluate_conllx([GOLD], [PREDICTED], punctuation=True).scores == approx(UAS=37.5, LAS=37.5, LA=87.5)


def test_conllx_compares_whole_labels_and_any_number_of_roots():
    gold = conllx_sentence([0, 0, 2], ["a:x", "b", "c"])
    predicted = conllx_sentence([0, 1, 2], ["a", "b", "c"])
    # Heads: 1 and 3 right. Labels: 2 and 3 right. Both: 3.
    assert evaluate_conllx([gold], [predicted]).scores == approx(UAS=200 / 3, LAS=100 / 3, LA=200 / 3)


def test_conllx_skips_unannotated_words():
    gold = conllx_sentence([-1, 0, 2])
    predicted = conllx_sentence([2, 0, 1], ["dep", "root", "x"])
    result = evaluate_conllx([gold], [predicted])
    assert result.scores == approx(UAS=50, LAS=50, LA=50)
    assert result.counts["unannotated"] == 1
    nothing = evaluate_conllx([conllx_sentence([-1])], [conllx_sentence([0])])
    assert nothing.scores == {"UAS": None, "LAS": None, "LA": None}


def test_conllx_refuses_other_words():
    gold = [conllx_sentence([0]), conllx_sentence([0, 1])]
    with pytest.raises(EvaluationError, match="predicted treebank ends before sentence 2"):
        evaluate_conllx(gold, gold[:1])
    with pytest.raises(EvaluationError, match="gold treebank ends before sentence 2"):
        evaluate_conllx(gold[:1], gold)
    with pytest.raises(EvaluationError, match="sentence 1 has 1 words in gold and 2 in predicted"):
        evaluate_conllx(gold, gold[::-1])
    with pytest.raises(EvaluationError, match="word 1 of sentence 1 is 'w1' in gold and 'v' in predicted"):
        evaluate_conllx(gold[:1], [conllx_sentence([0], forms=["v"])])


SEEN = ["She", "was", "seen", "there", "."]
SEEN_GOLD = sentence([3, 3, 0, 3, 3], ["nsubj:pass", "aux:pass", "root", "advmod", "punct"], SEEN)
SEEN_PREDICTED = sentence([3, 3, 0, 2, 2], ["nsubj", "cop", "root", "advmod", "punct"], SEEN)


def test_ud_rules():
    # Heads right: 1, 2, 3 of 5. Labels cut at ":": nsubj and root are right, aux is not cop: 2 of 5.
    # Content words: gold nsubj, root, advmod; predicted the same three; right: nsubj, root. 2 * 2 / (3 + 3).
    result = evaluate_ud([SEEN_GOLD], [SEEN_PREDICTED])
    assert result.scores == approx(UAS=60, LAS=40, CLAS=200 / 3, words=100, sentences=100)
    assert result.counts["gold content words"] == 3


def test_the_three_rule_sets_differ():
    # CoNLL-X: "." is skipped, labels are whole. UAS 3/4, LAS 1/4 (root), LA 2/4 (root, advmod).
    assert evaluate_conllx([SEEN_GOLD], [SEEN_PREDICTED]).scores == approx(UAS=75, LAS=25, LA=50)
    # spaCy: the word labelled punct is skipped, labels are whole: F of 3/4 and 1/4.
    assert spacy_scores([SEEN_GOLD], [SEEN_PREDICTED]) == approx(UAS=75, LAS=25, sentences=100)


def test_spacy_counts_a_mislabelled_full_stop_as_false_positive():
    # All heads right, but "." is not labelled punct: 2 gold arcs, 3 predicted, 2 right: F = 2 * 2 / (2 + 3).
    gold = sentence([2, 0, 2], ["nsubj", "ROOT", "punct"])
    predicted = sentence([2, 0, 2], ["nsubj", "root", "dep"])
    assert spacy_scores([gold], [predicted]) == approx(UAS=80, LAS=80, sentences=100)
    assert evaluate_ud([gold], [predicted]).scores["UAS"] == 100


def test_clas_counts_the_predicted_content_words_too():
    # Gold content: obj, root. Predicted content: root, obj, dep. Right: root, obj. F = 2 * 2 / (2 + 3).
    gold = sentence([2, 0, 2], ["obj", "root", "punct"])
    predicted = sentence([2, 0, 2], ["obj", "root", "dep"])
    assert evaluate_ud([gold], [predicted]).scores["CLAS"] == pytest.approx(80)
    # No v2 content relation, no functional one either: labels of UD v1 do not count.
    assert evaluate_ud([sentence([0], ["ROOT"])], [sentence([0], ["ROOT"])]).scores["CLAS"] is None


@pytest.mark.parametrize(
    "heads, expected",
    [
        ([0, 0, 1], r"2 words are roots \(1, 2\)"),
        ([2, 1, 0], r"the heads form a cycle \((1 -> 2 -> 1|2 -> 1 -> 2)\)"),
        ([2, 3, 1], "form a cycle"),
        ([0, -1, 1], "word 2 has no head"),
        ([0, 1, 7], "the head 7 of word 3 lies outside the sentence"),
    ],
)
def test_ud_rejections(heads, expected):
    good, bad = sentence([0, 1, 1]), sentence(heads)
    with pytest.raises(EvaluationError, match=f"sentence 2 of predicted: .*{expected}"):
        evaluate_ud([good, good], [good, bad])
    with pytest.raises(EvaluationError, match=f"sentence 1 of gold: .*{expected}"):
        evaluate_ud([bad], [good])


def test_ud_with_other_tokens():
    # Text "abc". Gold a b c, predicted ab c: only c matches; it is the root on both sides.
    gold = sentence([3, 1, 0], forms=["a", "b", "c"])
    predicted = sentence([2, 0], forms=["ab", "c"])
    result = evaluate_ud([gold], [predicted])
    assert result.counts["aligned words"] == 1
    assert result.scores["UAS"] == pytest.approx(40)  # 2 * 1 / (3 + 2)
    assert result.scores["words"] == pytest.approx(40)
    # The head of "c" is not aligned here, so its arc is wrong.
    gold = sentence([0, 1, 2], forms=["a", "b", "c"])
    predicted = sentence([0, 1], forms=["ab", "c"])
    assert evaluate_ud([gold], [predicted]).counts["correct heads"] == 0


def test_ud_with_other_sentences():
    gold = [sentence([0, 1], forms=["a", "b"]), sentence([0], forms=["c"])]
    predicted = [sentence([0], forms=["a"]), sentence([2, 0], forms=["b", "c"])]
    # Roots a and c right, b wrong. No sentence has the same characters.
    assert evaluate_ud(gold, predicted).scores["UAS"] == pytest.approx(200 / 3)
    assert evaluate_ud(gold, predicted).scores["sentences"] == 0


def with_range(token, forms, heads, rest=""):
    lines = [f"1-{len(forms)}\t{token}" + "\t_" * 8] if token else []
    words = [*forms, *rest]
    pairs = zip(words, heads, strict=True)
    lines += [f"{i}\t{form}\t_\t_\t_\t_\t{head}\tdep\t_\t_" for i, (form, head) in enumerate(pairs, 1)]
    return sentences("\n".join(lines) + "\n\n")


def test_ud_matches_words_of_multi_word_tokens_by_common_subsequence():
    # da me lo against Da lo: lower-cased, da and lo match.
    gold = with_range("dámelo", ["da", "me", "lo"], [0, 1, 1])
    predicted = with_range("dámelo", ["Da", "lo"], [0, 1])
    result = evaluate_ud(gold, predicted)
    assert result.counts["aligned words"] == 2 and result.counts["correct heads"] == 2
    assert result.scores["UAS"] == pytest.approx(80)  # 2 * 2 / (3 + 2)


def test_ud_a_multi_word_token_against_a_plain_one():
    gold = with_range("al", ["a", "el"], [3, 3, 0], ["mar"])
    predicted = with_range("", [], [2, 0], ["al", "mar"])
    result = evaluate_ud(gold, predicted)
    assert result.counts["aligned words"] == 1  # mar
    plain = with_range("", [], [3, 3, 0], ["a", "l", "mar"])
    assert evaluate_ud(gold, plain).counts["aligned words"] == 2  # a by its form, mar; "l" is not "el"


def test_ud_words_that_stick_out_of_a_span_match_nothing():
    gold = with_range("", [], [0, 1], ["ab", "c"])
    predicted = with_range("a", ["ab", "x"], [0, 1, 1, 1], ["b", "c"])
    assert evaluate_ud(gold, predicted).counts["aligned words"] == 1  # c


def test_ud_spaces_are_no_part_of_the_text():
    one = sentence([0, 1], forms=["10 000", "x"])
    other = sentence([0, 1], forms=["10\u00a0000", "x"])
    assert evaluate_ud([one], [other]).scores["UAS"] == 100
    with pytest.raises(EvaluationError, match="the texts differ at character 3: '10000x' in gold, '10' in predicted"):
        evaluate_ud([one], [sentence([0], forms=["10"])])
    with pytest.raises(EvaluationError, match="nothing but white space"):
        evaluate_ud([sentence([0], forms=[" "])], [one])


def test_nonprojective_arcs():
    gold = sentence([0, 4, 1, 1])  # 4 -> 2 is non-projective
    assert evaluate_nonprojective([gold], [gold]).scores == {"precision": 100, "recall": 100}
    # 1 -> 2 instead: nothing found, nothing recovered.
    assert evaluate_nonprojective([gold], [sentence([0, 1, 1, 1])]).scores == {"precision": None, "recall": 0}
    # Predicted 4 -> 2 and 5 -> 3 are non-projective, 4 -> 2 is right.
    result = evaluate_nonprojective([sentence([0, 4, 1, 1, 1])], [sentence([0, 4, 5, 1, 1])])
    assert result.scores == {"precision": 50, "recall": 100}
    assert result.counts["predicted arcs"] == 2 and result.counts["gold arcs"] == 1
    # The gold arc of word 2 is not annotated.
    assert evaluate_nonprojective([sentence([0, -1, 1, 1])], [gold]).scores == {
        "precision": None,
        "recall": None,
    }


def test_spacy_with_other_sentences():
    gold = [sentence([0, 1], forms=["a", "b"]), sentence([0], forms=["c"])]
    predicted = [sentence([0, 1, 1], forms=["a", "b", "c"])]
    assert spacy_scores(gold, predicted)["UAS"] == pytest.approx(200 / 3)
    with pytest.raises(EvaluationError, match="the texts differ at character 1"):
        examples_from(gold, [sentence([0], forms=["z"])], Vocab())


def test_table():
    columns = {
        "CoNLL-X": evaluate_conllx([SEEN_GOLD], [SEEN_PREDICTED]),
        "UD": EvaluationError("2 roots"),
        "spaCy": Evaluation("spaCy", {"UAS": 100.0, "LAS": None}),
    }
    assert format_table(columns).split("\n") == [
        "    | CoNLL-X | UD |  spaCy",
        "----+---------+----+-------",
        "UAS |   75.00 |  - | 100.00",
        "LAS |   25.00 |  - |      -",
        "LA  |   50.00 |  - |      -",
        "UD: 2 roots",
    ]
    assert columns["CoNLL-X"].to_dict()["UAS"] == 75 and columns["CoNLL-X"].to_dict()["counts"]["punctuation"] == 1
