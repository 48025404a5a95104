"""A vector for each worker of one machine, in memory that all of them see.

To sum them, every worker adds up one stretch of all vectors and writes the sum back into all of them: nothing passes
through sockets, which would copy a gradient several times over.
"""

from __future__ import annotations

import os
import sys

import torch
import torch.distributed as dist
from torch import Tensor


class Board:
    def __init__(self, vectors: Tensor, rank: int) -> None:
        """`vectors` (workers, length) is shared."""
        self.vectors = vectors
        self.mine = vectors[rank]
        share = -(-vectors.shape[1] // len(vectors))
        self.stretch = slice(rank * share, (rank + 1) * share)

    @classmethod
    def open(cls, rank: int, size: int, length: int) -> Board | None:
        """Called by all workers together; None where the system has no memory of this kind."""
        # A file without a name: it is gone with the last process that has it, whatever ends that process.
        file = os.memfd_create("tongsa") if rank == 0 and sys.platform == "linux" else -1
        if file >= 0:
            os.truncate(file, 4 * size * length)
        place = torch.tensor([os.getpid(), file])
        dist.broadcast(place, src=0)
        leader, file = place.tolist()
        if file < 0:
            return None
        vectors = torch.from_file(f"/proc/{leader}/fd/{file}", shared=True, size=size * length)
        dist.barrier()
        if rank == 0:
            os.close(file)
        return cls(vectors.view(size, length), rank)

    def sum(self) -> None:
        """Called by all workers together: afterwards each vector is the sum of what they were."""
        dist.barrier()
        total, *others = (vector[self.stretch] for vector in self.vectors)
        for other in others:
            total += other
        for other in others:
            other.copy_(total)
        dist.barrier()
