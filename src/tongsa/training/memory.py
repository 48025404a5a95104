"""Chunks that do not fit into memory: noticed, so that the trainer can halve them."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from tongsa.tasks.contract import Batch
from tongsa.training.workers import WorkerError

ALLOCATION_FAILED = ("can't allocate memory", "not enough memory")
"""In the messages of PyTorch's allocator for the CPU, on Linux and on Windows."""


class TooLargeError(Exception):
    """A batch needs more memory than there is."""

    def __init__(self, elements: int, rows: int) -> None:
        super().__init__(
            f"out of memory with {rows:,} examples at once; from now on at most {-(-rows // 2):,} of this size "
            "(a smaller training.chunk_tokens avoids it)"
        )
        self.elements = elements


@contextmanager
def fitting(batch: Batch, rows: int) -> Iterator[None]:
    """Turn out-of-memory errors in the block into a TooLargeError, or a WorkerError if there is only one example."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        reason = str(error).partition("\n")[0]
    else:
        return
    # Outside of the handler, so that the error no longer holds what the block has allocated.
    if rows > 1:
        raise TooLargeError(elements(batch), rows)
    raise WorkerError(
        f"out of memory with a single example of {elements(batch):,} elements",
        reason,
        "A smaller model needs less, and so do shorter sentences (corpus.max_tokens, in another --out).",
    )


def is_out_of_memory(error: BaseException) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    return any(words in str(error) for words in ALLOCATION_FAILED)


def elements(batch: Batch) -> int:
    """Elements of all tensors of a batch, padding included."""
    tensors = batch if isinstance(batch, tuple) else getattr(batch, "__dict__", {}).values()
    return sum(tensor.numel() for tensor in tensors if isinstance(tensor, Tensor))


def release_memory(device: torch.device) -> None:
    """Give back what failed attempts have left."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
