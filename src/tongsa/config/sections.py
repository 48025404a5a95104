"""All sections of a recipe except the model's: corpus, subwords, training, decoding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tongsa.config.schedules import SCHEDULES


def bounds(section: object, *, fractions: list[str] | None = None, **limits: tuple[float, float]) -> list[str]:
    """Describe every value outside its limits `key=(lowest, highest)`; both ends are allowed.

    A fraction is at least 0 and below 1.
    """
    found = []
    for key, (lowest, highest) in limits.items():
        value = getattr(section, key)
        if value < lowest:
            found.append(f"{key} is {value}; it must {'not be negative' if lowest == 0 else f'be at least {lowest:g}'}")
        elif value > highest:
            found.append(f"{key} is {value}; it must be at most {highest:,}")
    for key in fractions or []:
        if not 0 <= getattr(section, key) < 1:
            found.append(f"{key} is {getattr(section, key)}; it must be at least 0 and below 1")
    return found


MANY = 1_000_000_000
"""Upper limit for numbers of tokens, lines or updates: anything larger is a mistake."""

# A recipe may come from a stranger: these limit the time and memory of a translation.
MAX_BEAM = 1_000
MAX_BATCH_TOKENS = 1_000_000
MAX_EXTRA = 10_000
MAX_RATIO = 100
MAX_TOKENS = 100_000
MAX_LENGTH_PENALTY = 100


@dataclass(frozen=True, kw_only=True)
class CorpusSection:
    """How the corpus is read and filtered."""

    max_tokens: int = 256
    """Most subwords per side of a pair; longer pairs are left out and counted. Language models read such pieces."""
    max_ratio: float = 9.0
    """Leave out (and count) pairs where one side has more than this many times the subwords of the other (0: none)."""
    clean: bool = False
    """Leave out (and count) pairs to train on that `tongsa corpus clean` would remove; translation."""
    deduplicate: bool = False
    """Leave out repeated pairs."""
    mask: bool = True
    """Replace placeholders by {1}, {2}, ... in about half of the pairs that have some, for the model to carry them."""
    held_out: int = 0
    """Pairs (or lines) to hold out if no validation corpus is given (0: 2% of them, at most 2,000)."""
    encoding: str = "utf-8"
    """The encoding of the text files."""
    salvage: bool = False
    """Recover what is readable from damaged files and report the rest, instead of failing."""
    linearisation: Literal["brackets", "in-order"] = "in-order"
    """How a parser writes trees: the paper's brackets (§6.3), or each label after its first child."""
    tags: bool = False
    """Let a parser write the tag of each word (`XX:NN`) where the paper's writes `XX`."""

    def problems(self) -> list[str]:
        return bounds(self, max_tokens=(1, MAX_TOKENS), max_ratio=(0, MANY), held_out=(0, MANY))


@dataclass(frozen=True, kw_only=True)
class SubwordsSection:
    """How text is split into subwords (SentencePiece)."""

    size: int = 37000
    """Pieces in the vocabulary (§5.1: about 37,000, shared); for `char`, an upper limit."""
    kind: Literal["bpe", "unigram", "char", "byte", "word"] = "bpe"
    """Byte-pair encoding, a unigram language model, characters (ByteNet's), bytes, or whole words between blanks."""
    joint: bool = True
    """One vocabulary for both languages, or one each."""
    byte_fallback: bool = True
    """Write characters outside the vocabulary as bytes, so that nothing is unknown."""
    character_coverage: float = 0.9999
    """Share of the characters that get a piece of their own."""
    sampling: float = 0.0
    """BPE-dropout probability, or unigram sampling temperature (0: always the same segmentation)."""
    sample: int = 200_000
    """Lines to learn the vocabulary from, drawn at random; only these are held in memory."""

    def problems(self) -> list[str]:
        found = bounds(self, fractions=["sampling"], size=(1, 10_000_000), sample=(1, MANY))
        if self.kind in ("char", "byte", "word") and self.sampling:
            found.append(f"sampling is {self.sampling}; a {self.kind} vocabulary has only one segmentation")
        if self.kind == "byte" and not self.byte_fallback:
            found.append("byte_fallback is false; a vocabulary of bytes needs it")
        if not 0.98 <= self.character_coverage <= 1.0:  # SentencePiece takes no less
            found.append(f"character_coverage is {self.character_coverage}; it must be between 0.98 and 1")
        return found


SAMPLED = 0.25
"""Share of the vocabulary that a sampled softmax covers, besides the labels: half of it are the most frequent pieces,
the other half is drawn at random."""


FIRST = 0.4
"""With `training.diversify`: share of the time for the first two translators; the training itself has the rest."""


@dataclass(frozen=True, kw_only=True)
class TrainingSection:
    """How the model is trained."""

    updates: int = 100_000
    """Optimizer steps (§5.2), unless --minutes ends the training earlier."""
    batch_tokens: int = 25_000
    """Target tokens of one update (§5.1)."""
    chunk_tokens: int = 0
    """Target tokens processed at once, which bounds memory (0: chosen for the device)."""
    processes: int = 0
    """Worker processes on the CPU, which share the threads (0: chosen for the machine and the model)."""
    initial_weights: Literal["random", "lexicon"] = "random"
    """Random weights, or a Transformer that knows at first which words of the text translate which; translation."""
    optimizer: Literal["adam", "muon", "sgd"] = "adam"
    """Optimizer (§5.3)."""
    schedule: str = "noam"
    """The learning rate over time: noam (Eq. 3), inverse-sqrt, cosine, trapezoid (the peak for a quarter of the
    budget, then down to 0 in a line), constant, or one from another package."""
    warmup: int = 4000
    """Updates over which the learning rate rises."""
    peak: float = 0.0
    """The highest learning rate; for noam, Eq. 3 is scaled to this peak (0: Eq. 3 unscaled)."""
    label_smoothing: float = 0.1
    """epsilon_ls (§5.4)."""
    softmax: Literal["full", "sampled"] = "full"
    """Softmax of the loss: over all pieces, or estimated from the frequent ones, the labels and a sample; faster."""
    diversify: bool = False
    """Translate the text by two translators trained on it, one for each direction, and learn from these pairs too; a
    part of the budget is for them; translation."""
    noise: float = 0.0
    """Share of the chunks whose sources are disturbed (case, full stop, typos, spacing); translation."""
    beta1: float = 0.9
    """Adam's beta_1 (§5.3)."""
    beta2: float = 0.98
    """Adam's beta_2 (§5.3)."""
    epsilon: float = 1e-9
    """Adam's epsilon (§5.3)."""
    weight_decay: float = 0.0
    """Shrink the matrices of linear maps by this times the learning rate in every update (0: not, as in the paper)."""
    clip: float = 0.0
    """Largest norm of an update's gradient (0: no clipping, as in the paper)."""
    checkpoint_every: int = 0
    """Updates between two checkpoints (0: one with each validation)."""
    validate_every: int = 0
    """Updates between two validations (0: twenty validations per training)."""
    validation_pairs: int = 2000
    """Pairs of the validation set that are scored while training."""
    patience: int = 0
    """Stop after this many validations without a better score (0: never)."""
    select: str = ""
    """The metric that selects checkpoints: bleu, chrf, log_loss, ... (empty: the task's default)."""
    average: int = 5
    """Checkpoints averaged into the final weights (§6.1: the last 5); 1 means no averaging."""
    average_of: Literal["last", "best"] = "last"
    """Which checkpoints to average: the last ones, or those with the best validation scores."""
    snapshots: int = 0
    """Further checkpoints to keep, spread over the whole training, to look back at it (0: none)."""
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    """Number format of factors in matrix products, never of sums (auto: bfloat16 on a CPU that is faster with it)."""

    def problems(self) -> list[str]:
        found = bounds(
            self,
            fractions=["label_smoothing", "beta1", "beta2", "noise"],
            updates=(1, MANY),
            batch_tokens=(1, MANY),
            warmup=(1, MANY),
            validation_pairs=(1, MANY),
            average=(1, 1000),
            snapshots=(0, 1000),
            chunk_tokens=(0, MANY),
            processes=(0, 4096),
            peak=(0, 1000),
            weight_decay=(0, 1000),
            clip=(0, MANY),
            epsilon=(0, 1),
            checkpoint_every=(0, MANY),
            validate_every=(0, MANY),
            patience=(0, MANY),
        )
        if self.schedule not in SCHEDULES:
            found.append(f"schedule is {self.schedule!r}; it can be {', '.join(SCHEDULES)}")
        elif self.schedule != "noam" and self.peak == 0:
            found.append(f'schedule "{self.schedule}" needs a peak: the highest learning rate, for example 0.001')
        return found


@dataclass(frozen=True, kw_only=True)
class DecodingSection:
    """Default settings of the search for translations."""

    beam: int = 4
    """Hypotheses kept at each step (§6.1)."""
    length_penalty: float = 0.6
    """alpha of ((5 + n) / 6)^alpha (§6.1)."""
    max_extra: int = 50
    """Output tokens allowed beyond max_ratio times the input length (§6.1: input length + 50)."""
    max_ratio: float = 1.0
    """See max_extra."""
    batch_tokens: int = 4096
    """Source tokens translated at once."""

    def problems(self) -> list[str]:
        return bounds(
            self,
            beam=(1, MAX_BEAM),
            batch_tokens=(1, MAX_BATCH_TOKENS),
            length_penalty=(0, MAX_LENGTH_PENALTY),
            max_extra=(0, MAX_EXTRA),
            max_ratio=(0, MAX_RATIO),
        )
