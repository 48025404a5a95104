"""Compiled engines of a translator directory: created on first use, and found by a hash of their inputs.

    ctranslate2/int8-1f0c9be5a3d2/             a CTranslate2 model; the name holds precision and key
    ctranslate2/shortlist.int8-1f0c9be5a3d2/   the same with a shortlist

A folder is complete as soon as it exists, and never changes, so several processes may create it at once, and readers
never see an incomplete one. Other weights get another name. Folders of earlier weights are removed.
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
"""Version of the compilation; raised when the same weights must be compiled differently."""

PROOF_SENTENCES = 32
"""Sentences on which int8 is compared with float32."""

POSITIONS = 2048
"""Rows of the table of sinusoids, which CTranslate2 cannot extend for longer sentences."""


def max_positions(config: TransformerSection) -> int:
    """Return the number of positions of a compiled model."""
    return config.max_positions if config.positions == "learned" else POSITIONS


def compiled(directory: Path, card: Card, subwords: Subwords, precision: str, *, shortlist: bool = False) -> Path:
    """Return the folder of the compiled engine; compile it if it is missing."""
    config = transformer(card)
    making = _Making(directory, config, subwords, precision, shortlist)
    kind = f"shortlist.{precision}" if shortlist else precision
    folder = Run(directory).compiled / f"{kind}-{key_of(directory, config, subwords, precision)}"
    if (folder / ABOUT).is_file():
        return folder
    try:
        _compile(folder, making)
    except WriteError:
        if not (folder / ABOUT).is_file():  # otherwise another process was faster
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
    """Return the precision of `auto` on a CPU: int8 if it was measured to be close to float32 here, else float32."""
    folder = compiled(directory, card, subwords, "int8")
    try:
        error = json.loads((folder / ABOUT).read_text(encoding="utf-8"))["error"]
    except (OSError, ValueError, KeyError):  # only in memory, or damaged: use the safe one
        return "float32"
    return "int8" if error <= LARGEST_ERROR else "float32"


def key_of(directory: Path, config: TransformerSection, subwords: Subwords, precision: str) -> str:
    """Hash everything that a compiled engine depends on."""
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
    """Another process created the same folder in the meantime."""


class _Making(NamedTuple):
    """The inputs of a compilation."""

    directory: Path
    config: TransformerSection
    subwords: Subwords
    precision: str
    shortlist: bool

    def write(self, folder: Path) -> None:
        from tongsa.engines.ctranslate2_export import write_ctranslate2
        from tongsa.engines.weights import read_weights

        weights = read_weights(Run(self.directory), self.config, self.subwords)
        about: dict[str, Any] = {"made_from": Run(self.directory).weights_file.name, "precision": self.precision}
        with tempfile.TemporaryDirectory() as name:
            if self.precision == "int8":  # float32 first: CTranslate2 rounds the weights in place
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
        """Return pieces to compare precisions on: validation examples, or else translations of random input."""
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
    """Return validation pairs; none if they are missing or unreadable."""
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
    """Return a temporary folder, deleted when the process ends, for a read-only directory."""
    folder = Path(tempfile.mkdtemp(prefix="tongsa-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    making.write(folder)
    return folder


def _remove_others(folder: Path, kind: str) -> None:
    for other in folder.parent.glob(f"{kind}-*"):
        if other != folder:
            with suppress(OSError):
                shutil.rmtree(other)
