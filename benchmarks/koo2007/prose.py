"""The fixed texts of docs/koo2007.md."""

from benchmarks.koo2007.methods import METHODS

MARGIN, LINEAR, PERCEPTRON = METHODS["max-margin"], METHODS["log-linear"], METHODS["perceptron"]
RANGES = ", ".join(f"{method.title} {' / '.join(f'{C:g}' for C in method.constants)}" for method in (MARGIN, LINEAR))
NEGLIGIBLE = f"{MARGIN.options['negligible']:g}"

HEADER = f"""# Koo et al. (2007) once more

T. Koo, A. Globerson, X. Carreras and M. Collins (2007). Structured prediction models via the Matrix-Tree Theorem.
*EMNLP-CoNLL*, section 6. Written by `python -m benchmarks.koo2007`.

Three ways to learn a first-order model of unlabelled trees, each from projective and from non-projective trees: the
averaged perceptron, max-margin by exponentiated gradient, and log-linear models. Features, data and search are the
same for all.

- *Data.* Not the paper's: where the language is the same, there are fewer sentences or another annotation (table
  1). So scores beside the paper's say little, differences between methods more.
- *Features.* [First-order](features.md), with lemmas, coarse tags and morphology where a treebank has them: those
  of the arcs of the training trees, as they are and projectivised. Gold tags, as in the paper. The `id=` items of
  the Danish treebank are left out.
- *Projective training* is on projectivised trees (footnote 4 of the paper), non-projective training on the trees as
  they are.
- *Validation.* The dev part of the treebank; without one, every tenth sentence of train. On it are chosen, for each
  treebank and setting, C, the number of passes and, for models from non-projective trees, whether to parse
  projectively or not; models from projective trees parse projectively. C: {RANGES}, and beyond
  an end where the best value is (at most {MARGIN.widen} further). Passes: at most {PERCEPTRON.passes} (perceptron),
  {MARGIN.passes} (max-margin) and {LINEAR.passes} (log-linear; as many as the paper made). The validation part is
  scored after each (max-margin: each {MARGIN.every}, log-linear: each {LINEAR.every}); the perceptron stops when
  {PERCEPTRON.patience} scores in a row are no better, the others make all passes.
- *Test.* The chosen setting is trained once more on train and validation together (the paper: on train alone), and
  scores the test part once, by the rules of CoNLL-X: UAS, words of punctuation alone left out.
- *Learners.* The perceptron and exponentiated gradient visit sentences in an order drawn anew in each pass (seed 0).
  Exponentiated gradient starts from beta = 9 as in the paper, but searches for a step size at each sentence in place
  of halving one step size for all, and lets changes of marginals below {NEGLIGIBLE} wait. Log-linear models are trained
  by L-BFGS; a pass is an iteration of it (the paper: conjugate gradient).
- *Trained twice.* In a first round max-margin models had at most 16 passes and log-linear ones 50, and both stopped
  after three validation scores that were no better. L-BFGS has not converged there: scores still go up and down by a
  point, the best of them is an accident, and a final run that stops at that pass need not be good (Basque: pass 24
  with C = 0.3 had the best validation score, 77.37, and 77.85 on the test part; with 100 passes C = 0.1 is best,
  77.43 and 79.46). Max-margin models had not either (Arabic, C = 0.01: validation 76.7 after 16 passes, 77.8 after
  45). Nothing but the limits of passes was changed. The first round had found, with test parts
  scored: log-linear over the perceptron +0.35 points on seven treebanks, 647/591 sentences, p = 0.12; max-margin
  over the perceptron +0.62 on all ten, 1,131/1,042, p = 0.059; on Dutch at best 80.01."""

REPEATING = """## To repeat

```bash
pip install -e ".[bench]"
python -m spacy project run koo2007 .
python -m spacy project run koo2007 . --vars.koo2007_treebanks UD_Latin-Perseus
python -m benchmarks.koo2007 --from FOLDER --jobs 8
python -m benchmarks.koo2007 --jobs 8 --backend dask --together
python -m benchmarks.koo2007 --backend dask --scheduler tcp://HOST:8786 --together
python -m benchmarks.koo2007.minimum_risk --treebanks conllx-dutch-alpino6000
```

The first form fetches and runs all ten treebanks, the second one; `--vars.treebanks_folder FOLDER` or `--from
FOLDER` take them from a local folder. Each training run leaves a file in `metrics/koo2007`, named by a digest of
its settings and data: a stopped command goes on where it was. `--jobs` workers run at a time, on this machine, or
on a Dask or Ray cluster through joblib (`--backend`, `--scheduler`), whose workers need this repository as working
folder or on their `PYTHONPATH`, and the same folders of treebanks and results. Each worker takes up to 2 GB of
memory. Ray is not among the dependencies of `bench`."""
