"""Embedding tables: of the source, of the target, and of the output."""

from __future__ import annotations

from torch import nn

Tables = tuple[nn.Embedding, nn.Embedding, nn.Embedding]


def tables(source_size: int, target_size: int | None, width: int, tied: bool) -> Tables:
    """The tables of source, target and output (§3.4); sizes count the pieces and `<pad>`, the last row, which is zero.

    No target size means a joint vocabulary: with `tied`, one table serves all three, else source and target have one
    each. With a vocabulary a side, `tied` joins the decoder's two.
    """
    source = table(source_size, width)
    target = source if target_size is None and tied else table(target_size or source_size, width)
    return source, target, target if tied else table(target_size or source_size, width)


def table(size: int, width: int) -> nn.Embedding:
    return nn.Embedding(size, width, padding_idx=size - 1)
