"""Small treebanks, made up for the tests."""

from __future__ import annotations

from spacy_mtt.treebanks.reading import parse_treebank
from spacy_mtt.treebanks.sentence import CONLLU, CONLLX, TreebankSentence

# A comment with a tab, multi-word tokens, empty nodes, a space in a FORM, a word that is `_`.
CONLLU_TEXT = """\
# newdoc id = d1
# sent_id = 1
# text = Vámonos al mar 10 000 _.
# note =\ta tab
0.1	_	_	_	_	_	_	_	_	_
1-2	Vámonos	_	_	_	_	_	_	_	_
1	Vamos	ir	VERB	V	Mood=Imp|Number=Plur	0	root	0:root	_
2	nos	nosotros	PRON	_	Case=Acc,Dat|Number=Plur	1	obj	1:obj	_
2.1	ya	ya	ADV	_	_	_	_	1:advmod	_
3-4	al	_	_	_	_	_	_	_	SpaceAfter=No
3	a	a	ADP	E	_	5	case	5:case	_
4	el	el	DET	_	Gender=Masc	5	det	5:det	_
5	mar	mar	NOUN	S	_	1	obl:arg	1:obl:arg	Gloss=sea|SpaceAfter=No
6	10 000	10 000	NUM	Z	NumType=Card	5	nummod	5:nummod	_
7	_	_	SYM	_	_	1	discourse	1:discourse	SpaceAfter=No
8	.	.	PUNCT	_	_	1	punct	1:punct	_

# sent_id = 2
1	Sí	sí	INTJ	I	_	0	root	_	_

"""

# Two roots, FEATS that are no name=value pairs, PHEAD, an arc without label, an unannotated word.
CONLLX_TEXT = """\
1	Ja	ja	Adv	Adv	eigen|ev	0	ROOT	0	ROOT
2	hij	hij	Pron	PronPer	per|3	3	su	3	su
3	komt	kom	V	V	_	0	ROOT	_	_
4	.	.	Punc	Punc	punt	3	_	_	_

1	half	half	ADJ	Adj	_	2	mod	_	_
2	werk	_	N	_	_	_	_	_	_

"""


def sentences(text: str, format: str = "conllu") -> list[TreebankSentence]:
    """The sentences of a text."""
    return list(parse_treebank(text, format))


def sentence(heads, labels=None, forms=None, format=CONLLU, tags=None) -> TreebankSentence:
    """A sentence with the given heads; other columns are filled in."""
    n = len(heads)
    labels = labels or ["root" if head == 0 else "_" if head < 0 else "dep" for head in heads]
    forms = forms or [f"w{i}" for i in range(1, n + 1)]
    tags = tags or ["X"] * n
    rows = []
    for i, (head, label, form, tag) in enumerate(zip(heads, labels, forms, tags, strict=True), 1):
        rows.append((str(i), form, "_", tag, tag, "_", "_" if head < 0 else str(head), label, "_", "_"))
    return TreebankSentence(rows=tuple(rows), format=format)


def conllx_sentence(heads, labels=None, forms=None) -> TreebankSentence:
    """A sentence in CoNLL-X."""
    return sentence(heads, labels, forms, CONLLX)
