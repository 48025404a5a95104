"""What others have published for the test sets of a race, and where each figure was read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PROTOCOL = (
    "Scores of test sets are cased / lower-cased BLEU. Published figures stand beside the lower-cased one, whose "
    "tokens are sacrebleu's 13a: the script of Multi30k (task1-tokenize.sh of github.com/multi30k/dataset) lower-cases "
    "and tokenises with Moses. That Revisit-MMT used its files is inferred: its reference has 12,103 tokens, as theirs "
    "(13a: 12,106). We have not seen its text, and token counts do not show case."
)


@dataclass(frozen=True, kw_only=True)
class Published:
    """A system of others."""

    system: str
    sees: str
    """What it is given besides the sentence when it translates."""
    scores: Mapping[str, float]
    """BLEU by test set."""
    training: str
    source: str
    read_in: str
    """Where we read the figures; `source` says `reported` if that is neither the publication nor its program."""


PUBLISHED = {
    "multi30k": [
        Published(
            system="Transformer-Tiny",
            sees="text only",
            scores={"test_2016_flickr": 41.02},
            training="8,000 updates of 2 x 4,096 tokens; dropout 0.3; 10 checkpoints averaged; beam 5",
            source="Wu et al., ACL 2021",
            read_in="README-baseline.md of github.com/LividWo/Revisit-MMT",
        ),
        Published(
            system="RMMT",
            sees="retrieved images",
            scores={"test_2016_flickr": 41.45},
            training="at most 15,000 updates of 2 x 4,096 tokens; beam 5",
            source="Wu et al., ACL 2021",
            read_in="README-RMMT.md of github.com/LividWo/Revisit-MMT",
        ),
        Published(
            system="Gated Fusion",
            sees="the image",
            scores={"test_2016_flickr": 41.96},
            training="8,000 updates of 2 x 4,096 tokens; beam 5",
            source="Wu et al., ACL 2021",
            read_in="README-gated.md of github.com/LividWo/Revisit-MMT",
        ),
        Published(
            system="synthetic and authentic images",
            sees="images made from the text",
            scores={"test_2016_flickr": 42.50, "test_2017_flickr": 36.04, "test_2017_mscoco": 31.95},
            training="dropout 0.3; 10 checkpoints averaged; beam 5",
            source="Guo et al., EMNLP 2023 (reported)",
            read_in="a summary that reports them; not read in the paper (aclanthology.org/2023.emnlp-main.173)",
        ),
    ]
}
"""By race."""
