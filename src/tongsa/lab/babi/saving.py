"""A trained network in one file: weights, and all that reading stories needs, in the header of safetensors."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from tongsa.base.errors import DirectoryError
from tongsa.base.files import write_atomically
from tongsa.lab.babi.encoding import Lexicon
from tongsa.models.memory_network import Encoding, MemoryNetwork, MemoryNetworkShape


@dataclass(frozen=True)
class Trained:
    """A network at the end of its training."""

    network: MemoryNetwork
    lexicon: Lexicon
    encoding: Encoding
    settings: dict[str, Any]
    """How it was trained: a training goes on in a directory only with the same ones."""
    seed: int
    epochs: int
    seconds: float
    train_loss: float
    """A training question, without noise: what the paper chooses among restarts by."""
    train_error: float
    valid_error: float


def write_trained(path: Path, trained: Trained) -> None:
    values = {name: getattr(trained, name) for name in _PLAIN}
    values["shape"] = asdict(trained.network.shape)
    values["words"] = trained.lexicon.words
    header = {"tongsa": json.dumps(values, ensure_ascii=False)}
    write_atomically(path, save(trained.network.state_dict(), header))


_PLAIN = ("encoding", "settings", "seed", "epochs", "seconds", "train_loss", "train_error", "valid_error")


def read_trained(path: Path) -> Trained:
    try:
        with safe_open(path, "pt") as file:
            values = json.loads((file.metadata() or {})["tongsa"])
            weights = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        network = MemoryNetwork(MemoryNetworkShape(**values["shape"]))
        network.load_state_dict(weights)
        return Trained(network, Lexicon(values["words"]), **{name: values[name] for name in _PLAIN})
    except (SafetensorError, ValueError, KeyError, TypeError, RuntimeError, OSError) as error:
        raise DirectoryError(
            f"{path} is damaged, or no memory network: {error}", "Remove it and train that part again with --resume."
        ) from error
