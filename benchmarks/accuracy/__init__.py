"""`mtt_parser` against spaCy's parser, at its own job: `python -m benchmarks.accuracy --help`.

contenders.py   the configs: spaCy's parser, ours over the same token vectors, our recommended one
jobs.py         what is trained and scored, as data, and the files that keep it
train.py        one training in a process of its own
score.py        a model on a part of a treebank, with gold and with predicted sentence boundaries
speed.py        words per second of the models of a treebank, in turn in one process
page.py         docs/accuracy.md and its plot
"""
