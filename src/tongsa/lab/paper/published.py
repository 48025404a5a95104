"""The figures that the paper prints: "Attention Is All You Need", arXiv 1706.03762v7, Tables 1 to 4."""

from __future__ import annotations

from dataclasses import dataclass

PAPER = "arXiv 1706.03762v7"

TFLOPS = {"K80": 2.8, "K40": 3.7, "M40": 6.0, "P100": 9.5}
"""Sustained single precision of each GPU, in 10^12 operations per second (footnote 5)."""

GPUS = 8
"""P100s that trained all the paper's models (§5.2)."""

HOURS = {"base": 12.0, "big": 3.5 * 24}
"""Training time (§5.2)."""


def training_cost(hours: float, gpus: int, tflops: float) -> float:
    """Training time times GPUs times the sustained capacity of a GPU, in floating-point operations      §6.1"""
    return hours * 3600 * gpus * tflops * 1e12


@dataclass(frozen=True)
class System:
    """A row of Table 2: BLEU on newstest2014, and training cost in FLOPs; None where the paper prints nothing."""

    name: str
    source: str
    """The publication that the row is from, by its number there."""
    en_de: float | None
    en_fr: float | None
    cost_en_de: float | None
    cost_en_fr: float | None


TABLE_2 = [
    System("ByteNet", "Kalchbrenner et al. 2016 [18]", 23.75, None, None, None),
    System("Deep-Att + PosUnk", "Zhou et al. 2016 [39]", None, 39.2, None, 1.0e20),
    System("GNMT + RL", "Wu et al. 2016 [38]", 24.6, 39.92, 2.3e19, 1.4e20),
    System("ConvS2S", "Gehring et al. 2017 [9]", 25.16, 40.46, 9.6e18, 1.5e20),
    System("MoE", "Shazeer et al. 2017 [32]", 26.03, 40.56, 2.0e19, 1.2e20),
    System("Deep-Att + PosUnk Ensemble", "Zhou et al. 2016 [39]", None, 40.4, None, 8.0e20),
    System("GNMT + RL Ensemble", "Wu et al. 2016 [38]", 26.30, 41.16, 1.8e20, 1.1e21),
    System("ConvS2S Ensemble", "Gehring et al. 2017 [9]", 26.36, 41.29, 7.7e19, 1.2e21),
    System("Transformer (base model)", "the paper", 27.3, 38.1, 3.3e18, 3.3e18),
    System("Transformer (big)", "the paper", 28.4, 41.8, 2.3e19, 2.3e19),
]
"""The abstract and Table 2 print 41.8 for English-French; the text of §6.1 says 41.0, as the first versions did."""


@dataclass(frozen=True)
class Variation:
    """A row of Table 3: perplexity per word piece and BLEU on newstest2013, parameters where they are printed."""

    perplexity: float
    bleu: float
    millions: int | None = None


TABLE_3 = {
    "base": Variation(4.92, 25.8, 65),
    "A1": Variation(5.29, 24.9),
    "A2": Variation(5.00, 25.5),
    "A3": Variation(4.91, 25.8),
    "A4": Variation(5.01, 25.4),
    "B1": Variation(5.16, 25.1, 58),
    "B2": Variation(5.01, 25.4, 60),
    "C1": Variation(6.11, 23.7, 36),
    "C2": Variation(5.19, 25.3, 50),
    "C3": Variation(4.88, 25.5, 80),
    "C4": Variation(5.75, 24.5, 28),
    "C5": Variation(4.66, 26.0, 168),
    "C6": Variation(5.12, 25.4, 53),
    "C7": Variation(4.75, 26.2, 90),
    "D1": Variation(5.77, 24.6),
    "D2": Variation(4.95, 25.5),
    "D3": Variation(4.67, 25.3),
    "D4": Variation(5.47, 25.7),
    "E": Variation(4.92, 25.7),
    "big": Variation(4.33, 26.4, 213),
}
"""By the names of the presets (config/presets.py), in the paper's order. No checkpoints are averaged (§6.2)."""


@dataclass(frozen=True)
class Parser:
    """A row of Table 4: labelled F1 on section 23 of the Wall Street Journal."""

    name: str
    training: str
    f1: float


WSJ_ONLY, SEMI_SUPERVISED = "WSJ only, discriminative", "semi-supervised"

TABLE_4 = [
    Parser("Vinyals & Kaiser et al. (2014) [37]", WSJ_ONLY, 88.3),
    Parser("Petrov et al. (2006) [29]", WSJ_ONLY, 90.4),
    Parser("Zhu et al. (2013) [40]", WSJ_ONLY, 90.4),
    Parser("Dyer et al. (2016) [8]", WSJ_ONLY, 91.7),
    Parser("Transformer (4 layers)", WSJ_ONLY, 91.3),
    Parser("Zhu et al. (2013) [40]", SEMI_SUPERVISED, 91.3),
    Parser("Huang & Harper (2009) [14]", SEMI_SUPERVISED, 91.3),
    Parser("McClosky et al. (2006) [26]", SEMI_SUPERVISED, 92.1),
    Parser("Vinyals & Kaiser et al. (2014) [37]", SEMI_SUPERVISED, 92.1),
    Parser("Transformer (4 layers)", SEMI_SUPERVISED, 92.7),
    Parser("Luong et al. (2015) [23]", "multi-task", 93.0),
    Parser("Dyer et al. (2016) [8]", "generative", 93.3),
]
