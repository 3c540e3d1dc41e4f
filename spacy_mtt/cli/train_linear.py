"""`mtt train-linear`: batch training of a parser with sparse features from a training config."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from spacy.cli._util import parse_config_overrides
from spacy.language import Language
from spacy.schemas import ConfigSchemaTraining
from spacy.training import Example
from spacy.training.initialize import init_nlp
from spacy.training.loop import create_before_to_disk_callback, create_evaluation_callback
from spacy.util import load_config, registry, resolve_dot_names
from thinc.api import ConfigValidationError
from tqdm import tqdm

from spacy_mtt.cli._util import fail, one_sentence_errors
from spacy_mtt.pipeline.linear_training import LinearTraining
from spacy_mtt.pipeline.sparse_sentences import Pass, has_sparse_features, sentences_of
from spacy_mtt.pipeline.step_training import StepTraining, training_of
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.writing import replacing, replacing_folder

STATE = "training-state.npz"


@one_sentence_errors
def train_linear(
    ctx: typer.Context,  # overrides of the config
    config_path: Annotated[Path, typer.Argument(help="Training config, such as configs/linear-eg.cfg", dir_okay=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for model-best and model-last")],
    passes: Annotated[
        int | None,
        typer.Option(
            "--passes",
            min=1,
            help="Passes over the training data, or iterations; if not given, 100 of L-BFGS, 30 of exponentiated "
            "gradient, 20 for low-rank models, 10 of others",
        ),
    ] = None,
    eval_every: Annotated[
        int | None, typer.Option("--eval-every", min=1, help="Passes between evaluations; if not given, 5 of 100, or 1")
    ] = None,
    storage: Annotated[
        str, typer.Option("--storage", help="cached: keep all features in memory; computed: find them in every pass")
    ] = "cached",
    resume: Annotated[bool, typer.Option("--resume", help="Go on from what is in the output folder")] = False,
) -> None:
    """Train an mtt_parser with a linear or low-rank scorer, much faster than `spacy train` does by the same config.

    The features of all training sentences are found once, and the learner of the config's objective passes over
    them: averaged perceptron, MIRA or exponentiated gradient; of a linear model, LogLikelihood stands for L-BFGS.
    Any setting of the config can be overridden by options, as with `spacy train`: --paths.train train.conllu.
    """
    if storage not in ("cached", "computed"):
        fail(f"--storage must be cached or computed, not {storage!r}")
    try:
        config = load_config(config_path, overrides=parse_config_overrides(ctx.args), interpolate=False)
        run = _Run(init_nlp(config), output, storage=storage)
        passes = passes or run.training.usual_passes
        run.train(passes, eval_every=eval_every or max(1, passes // 20), resume=resume)
    except ConfigValidationError as error:
        fail(str(error).strip())
    except (ValueError, OSError) as error:
        if isinstance(error, TreebankError):
            raise
        fail(str(error).strip().split("\n")[0])


class _Run:
    """A training run with an output folder."""

    def __init__(self, nlp: Language, output: Path, *, storage: str):
        self.nlp = nlp
        self.output = output
        config = nlp.config.interpolate()
        self.settings: dict[str, Any] = registry.resolve(config["training"], schema=ConfigSchemaTraining)
        self.train_corpus, dev_corpus = resolve_dot_names(
            config, [self.settings["train_corpus"], self.settings["dev_corpus"]]
        )
        self.evaluate = create_evaluation_callback(nlp, dev_corpus, self.settings["score_weights"])
        self.before_to_disk = create_before_to_disk_callback(self.settings["before_to_disk"])
        self.name = _sparse_parser(nlp)
        self.best = -np.inf
        self.training = self._training(storage)

    def train(self, passes: int, *, eval_every: int, resume: bool) -> None:
        """Run the passes that are left, with a line for each evaluation."""
        if resume:
            self._restore()
        elif (self.output / STATE).is_file():
            fail(f"{self.output} holds a training run: give --resume to go on with it, or another folder")
        for reason, count in self.training.excluded.items():
            typer.echo(f"left out: {count} of {len(self.training.sentences)} sentences ({reason})")
        with tqdm(total=passes, initial=self.training.passes, desc="passes", unit="pass", disable=None) as bar:
            self.training.run(passes, self._after(bar, passes, eval_every))
        typer.echo(f"saved: {self.output / 'model-best'} (score {self.best:.4f})")

    def _after(self, bar: tqdm, passes: int, eval_every: int) -> Callable[[Pass], None]:
        def after_pass(done: Pass) -> None:
            bar.update()
            if done.number % eval_every and done.number != passes and not done.finished:
                return
            score, scores = self.evaluate()
            values = {**done.values, **{key: scores[key] for key in ("dep_uas", "dep_las") if key in scores}}
            bar.clear()
            typer.echo(f"pass {done.number:>4}  " + "  ".join(f"{name} {value:.6g}" for name, value in values.items()))
            self._save(score)

        return after_pass

    def _save(self, score: float) -> None:
        """The parser of this pass, the best one so far, and what is needed to go on, in this order."""
        self.output.mkdir(parents=True, exist_ok=True)
        nlp = self.before_to_disk(self.nlp)
        with replacing_folder(self.output / "model-last") as folder:
            nlp.to_disk(folder)
        if score > self.best:
            self.best = score
            with replacing_folder(self.output / "model-best") as folder:
                shutil.copytree(self.output / "model-last", folder)
        with replacing(self.output / STATE) as file:
            np.savez(file, **self.training.state(), best=np.array(self.best), config=np.array(self._fingerprint()))

    def _restore(self) -> None:
        path = self.output / STATE
        if not path.is_file():
            fail(f"{path} does not exist: there is nothing to resume")
        with np.load(path, allow_pickle=False) as saved:
            state = dict(saved)
        if str(state.pop("config")) != self._fingerprint():
            fail(f"{path} is of a run with another config or other training data")
        self.best = float(state.pop("best"))
        self.training.restore(state)

    def _fingerprint(self) -> str:
        """Tells runs of other configs or over other sentences."""
        config = self.nlp.config.interpolate()
        shown = json.dumps([config["components"], config["training"]], sort_keys=True, default=str)
        digest = blake2b(shown.encode("utf8"), digest_size=16)
        for sentence in self.training.sentences:
            digest.update(sentence.key)
        return digest.hexdigest()

    def _training(self, storage: str) -> LinearTraining | StepTraining:
        parser = self.nlp.get_pipe(self.name)
        sentences = sentences_of(parser, self._annotated(), storage)
        seed = self.settings["seed"] or 0
        return training_of(parser, sentences, self.settings["optimizer"], seed=seed)

    def _annotated(self) -> list[Example]:
        """The training examples, annotated by the components that are to annotate before the parser sees them."""
        examples = list(self.train_corpus(self.nlp))
        for name in self.settings["annotating_components"]:
            if name != self.name:
                docs = self.nlp.get_pipe(name).pipe([each.predicted for each in examples])
                for example, doc in zip(examples, docs, strict=True):
                    example.predicted = doc
        return examples


def _sparse_parser(nlp: Language) -> str:
    """The name of the one component that this command can train."""
    names = [name for name, component in nlp.pipeline if has_sparse_features(component)]
    if len(names) != 1:
        fail(f"the config has {len(names)} mtt_parser with a linear or low-rank scorer, but must have one")
    return names[0]
