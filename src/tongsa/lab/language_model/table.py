"""What the comparison came to, as text."""

from __future__ import annotations

from tongsa.lab.language_model.experiment import Result, Settings

DISTANCES = ((1, 1), (2, 2), (3, 5), (6, 10), (11, 20), (21, 10**9))
"""Words back, from and to."""


def as_text(result: Result, settings: Settings) -> str:
    names = list(result.held_out)
    rows = {
        "trigram, modified Kneser-Ney": result.trigram,
        f"memory network, {settings.hops} hops, d = {settings.d}": result.memory_network,
    }
    width = max(map(len, rows))
    lines = [f"{'perplexity':{width}}" + "".join(f"  {name:>8}" for name in names)]
    lines += [f"{name:{width}}" + "".join(f"  {row[part]:8.2f}" for part in names) for name, row in rows.items()]
    lines += [f"{'words, every one counted':{width}}" + "".join(f"  {result.held_out[part]:8,}" for part in names)]
    lines += [f"{'of these <unk>':{width}}" + "".join(f"  {100 * result.unknown[part]:7.2f}%" for part in names)]
    learnt = f"learnt from {result.words:,} words, a vocabulary of {result.vocabulary:,}"
    return "\n".join([*lines, learnt, "", *_looks(result)]) + "\n"


def _looks(result: Result) -> list[str]:
    """Where the hops look (the paper's Figure 3)."""
    memories = len(result.looks_back[0])
    spans = [(low, min(high, memories)) for low, high in DISTANCES if low <= memories]
    heads = [str(low) if low == high else f"{low}-{high}" for low, high in spans]
    lines = ["weight by words back" + "".join(f"  {head:>6}" for head in heads)]
    for hop, weights in enumerate(result.looks_back, 1):
        cells = "".join(f"  {sum(weights[low - 1 : high]):6.2f}" for low, high in spans)
        lines.append(f"{f'hop {hop}':20}{cells}")
    return lines
