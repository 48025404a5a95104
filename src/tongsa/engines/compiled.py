"""The compiled engines of a translator directory: made on first use, found by the hash of what they were made from.

    ctranslate2/int8-1f0c9be5a3d2/             a CTranslate2 model; the name holds precision and key
    ctranslate2/shortlist.int8-1f0c9be5a3d2/   the same with a shortlist

A folder of a name is complete once it is there, and never changes. So several processes may make one at once, one that
reads never sees half of one, and other weights have another name. Folders of earlier weights are removed.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import random
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from tongsa.base.errors import DirectoryError, UsageError, WriteError
from tongsa.base.files import replacing
from tongsa.config import TransformerSection
from tongsa.engines.precision import LARGEST_ERROR, relative_error, weight_bits, written_by
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.text.subwords import Subwords

ABOUT = "tongsa.json"
LAYOUT = 3
"""Goes up when the same weights are to be compiled differently."""

PROOF_SENTENCES = 32
"""Sentences on which int8 is compared with float32."""

POSITIONS = 2048
"""Rows of the table of sinusoids: CTranslate2 cannot make it longer when a longer sentence comes."""


def max_positions(config: TransformerSection) -> int:
    """Positions that a compiled model has."""
    return config.max_positions if config.positions == "learned" else POSITIONS


def compiled(directory: Path, card: Card, subwords: Subwords, precision: str, *, shortlist: bool = False) -> Path:
    """The folder of the compiled engine, made now where it is missing."""
    config = transformer(card)
    making = _Making(directory, config, subwords, precision, shortlist)
    kind = f"shortlist.{precision}" if shortlist else precision
    folder = Run(directory).compiled / f"{kind}-{key_of(directory, config, subwords, precision)}"
    if (folder / ABOUT).is_file():
        return folder
    try:
        _compile(folder, making)
    except WriteError:
        if not (folder / ABOUT).is_file():  # else another process was faster
            return _aside(making)
    _remove_others(folder, kind)
    return folder


def transformer(card: Card) -> TransformerSection:
    if not isinstance(card.recipe.model, TransformerSection):
        raise UsageError(
            f"CTranslate2 runs the Transformer, not {card.recipe.model.architecture}",
            "Use the other engine:  --engine native",
        )
    return card.recipe.model


def right_precision(directory: Path, card: Card, subwords: Subwords) -> str:
    """The precision of `auto` on a CPU: int8 where it was seen to be close to float32 here, else float32."""
    folder = compiled(directory, card, subwords, "int8")
    try:
        error = json.loads((folder / ABOUT).read_text(encoding="utf-8"))["error"]
    except (OSError, ValueError, KeyError):  # only in memory, or damaged: the safe one
        return "float32"
    return "int8" if error <= LARGEST_ERROR else "float32"


def key_of(directory: Path, config: TransformerSection, subwords: Subwords, precision: str) -> str:
    """A hash over everything that a compiled engine depends on."""
    digest = hashlib.blake2b(digest_size=6)
    weights = Run(directory).weights_file
    try:
        with weights.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise DirectoryError(f"{weights} cannot be read: {error.strerror}") from error
    bits = weight_bits() if precision == "int8" else 32
    digest.update(repr((LAYOUT, POSITIONS, bits, config)).encode())
    digest.update(subwords.source.model + subwords.target.model)
    return digest.hexdigest()


class _MadeByAnotherError(Exception):
    """While we compiled, another process has put the same folder in its place."""


class _Making(NamedTuple):
    """What an engine is compiled from."""

    directory: Path
    config: TransformerSection
    subwords: Subwords
    precision: str
    shortlist: bool

    def write(self, folder: Path) -> None:
        # These import torch, which nobody needs once the engine is compiled.
        from tongsa.engines.ctranslate2_export import write_ctranslate2
        from tongsa.models.weights import read_weights

        weights = read_weights(Run(self.directory), self.config, self.subwords)
        about: dict[str, Any] = {"made_from": Run(self.directory).weights_file.name, "precision": self.precision}
        with tempfile.TemporaryDirectory() as name:
            if self.precision == "int8":  # float32 first: CTranslate2 rounds the weights where they are
                write_ctranslate2(Path(name), weights, self.config, self.subwords, "float32")
            write_ctranslate2(folder, weights, self.config, self.subwords, self.precision, weight_bits())
            if self.precision == "int8":
                error = relative_error(folder, Path(name), self._pairs(Path(name)))
                about |= {"bits": weight_bits(), "error": error}
        (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")
        if self.shortlist:
            from tongsa.engines.shortlist import write_shortlist

            write_shortlist(folder, self.directory, self.subwords)

    def _pairs(self, exact: Path) -> list[tuple[list[str], list[str]]]:
        """Pieces to compare precisions on: validation examples, or else what the model makes of noise."""
        source, target = self.subwords.source, self.subwords.target
        examples = [(source.encode(a), target.encode(b)) for a, b in _examples(Run(self.directory))]
        short = [(a, b) for a, b in examples if max(len(a), len(b)) < max_positions(self.config)]
        if short:
            return [(source.pieces(a), target.pieces(b)) for a, b in short]
        draw = random.Random(1)
        pieces = source.all_pieces()[:-1]
        most = min(20, max_positions(self.config) // 2)
        noise = [draw.choices(pieces, k=draw.randint(1, most)) for _ in range(PROOF_SENTENCES)]
        return written_by(exact, noise, most)


def _examples(run: Run) -> list[tuple[str, str]]:
    """Validation pairs; none where the directory has none, or they cannot be read."""
    try:
        lines = run.examples_file.read_text(encoding="utf-8").split("\n")[:PROOF_SENTENCES]
        examples = [json.loads(line) for line in lines if line]
        return [(str(example["source"]), str(example["reference"])) for example in examples]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _compile(folder: Path, making: _Making) -> None:
    with suppress(_MadeByAnotherError), replacing(folder) as temporary:
        making.write(temporary)
        if (folder / ABOUT).is_file():
            raise _MadeByAnotherError


def _aside(making: _Making) -> Path:
    """For a directory that may only be read: a folder that lives as long as this process."""
    folder = Path(tempfile.mkdtemp(prefix="tongsa-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    making.write(folder)
    return folder


def _remove_others(folder: Path, kind: str) -> None:
    for other in folder.parent.glob(f"{kind}-*"):
        if other != folder:
            with suppress(OSError):
                shutil.rmtree(other)
