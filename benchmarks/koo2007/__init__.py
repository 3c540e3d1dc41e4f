"""The experiment of Koo et al. (2007), section 6, on treebanks that can be had: `python -m benchmarks.koo2007 --help`.

paper.py        the figures of the paper
corpora.py      a treebank's parts: train, validation, test
examples.py     sentences with features, for both kinds of training trees
methods.py      perceptron, max-margin, log-linear: weights after each pass
scoring.py      unlabelled attachment by the rules of CoNLL-X, sentence by sentence
jobs.py         one training run, as data: a search for meta-parameters, or the final one
protocol.py     which jobs a treebank needs next, and what they chose
store.py        results of jobs as files
grid.py         the jobs of all treebanks, with a progress bar, by joblib on one machine or a cluster
sign_test.py    the sentence-level sign test
report.py       what was found, as data
page.py         docs/koo2007.md
"""
