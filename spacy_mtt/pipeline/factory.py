"""The factory of `nlp.add_pipe("mtt_parser")`, and the Doc attribute that the component writes."""

from __future__ import annotations

from collections.abc import Callable

from spacy.language import Language
from spacy.tokens import Doc
from spacy.util import load_config_from_str
from thinc.api import Model

from spacy_mtt.learning.objective import Objective

from .component import MatrixTreeParser
from .decoders import Decoder

DEFAULT_CONFIG = load_config_from_str("""
[model]
@architectures = "spacy_mtt.BiaffineParser.v1"
arc_width = 256
label_width = 64
vector_dropout = 0.33

[model.tok2vec]
@architectures = "spacy.Tok2Vec.v2"

[model.tok2vec.embed]
@architectures = "spacy_mtt.AffixEmbed.v1"
dropout = 0.33

[model.tok2vec.encode]
@architectures = "spacy_mtt.RecurrentEncoder.v1"
width = 384
depth = 1
window_depth = 2
window_size = 1
maxout_pieces = 3

[model.segmenter]
@architectures = "spacy_mtt.SentenceStarts.v1"

[objective]
@misc = "spacy_mtt.LogLikelihood.v1"
projective = false
single_root = true

[decoder]
@misc = "spacy_mtt.ChuLiuEdmonds.v1"
single_root = true
""")

for name in ("mtt", "mtt_constraints"):
    if not Doc.has_extension(name):
        Doc.set_extension(name, default=None)


@Language.factory(
    "mtt_parser",
    assigns=["token.head", "token.dep", "token.is_sent_start", "doc.sents", "doc._.mtt"],
    default_config={
        **DEFAULT_CONFIG,
        "min_label_freq": 1,
        "tag_weight": 0.5,
        "sentence_weight": 1.0,
        "probabilities": False,
        "attribute_names": {},
        "scorer": {"@scorers": "spacy.parser_scorer.v1"},
    },
    default_score_weights={
        "dep_uas": 0.5,
        "dep_las": 0.5,
        "dep_las_per_type": None,
        "sents_p": None,
        "sents_r": None,
        "sents_f": 0.0,
    },
)
def make_mtt_parser(
    nlp: Language,
    name: str,
    model: Model,
    objective: Objective,
    decoder: Decoder,
    min_label_freq: int,
    tag_weight: float,
    sentence_weight: float,
    probabilities: bool,
    attribute_names: dict[str, str],
    scorer: Callable | None,
) -> MatrixTreeParser:
    """Make an `mtt_parser`.

    model: from docs and their units to scores, for example `spacy_mtt.BiaffineParser.v1`.
    objective: what is learned, for example `spacy_mtt.LogLikelihood.v1`.
    decoder: which tree is given, `spacy_mtt.ChuLiuEdmonds.v1`, `spacy_mtt.Eisner.v1` or `spacy_mtt.MinimumRisk.v1`.
    min_label_freq: labels seen less often in training are not learned.
    tag_weight: the weight of the loss of part-of-speech tags, an auxiliary target of models that score them.
    sentence_weight: the weight of the loss of sentence starts, of models with a segmenter.
    probabilities: whether parses come with their probabilities and entropies, see `attributes.py`; costs O(n^3).
    attribute_names: other names for some of the attributes, {"head_prob": "another_name"}.
    scorer: how parses are scored in training and evaluation.
    """
    return MatrixTreeParser(
        nlp.vocab,
        model,
        name,
        objective=objective,
        decoder=decoder,
        min_label_freq=min_label_freq,
        tag_weight=tag_weight,
        sentence_weight=sentence_weight,
        probabilities=probabilities,
        attribute_names=attribute_names,
        scorer=scorer,
    )
