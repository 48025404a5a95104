"""Compiled engines: made from the weights on first use, and kept in the cache of this user (base/cache.py).

    engines/int8-1f0c9be5a3d2.../             a CTranslate2 model; the name holds precision and key
    engines/shortlist.int8-1f0c9be5a3d2.../   the same with a shortlist

The key is a hash of everything that the engine was made from, so other weights get another engine. An engine is never
taken from a translator directory: CTranslate2 reads it unchecked, and it need not be what the weights say.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
import tempfile
from functools import cached_property
from pathlib import Path
from typing import Any

import ctranslate2

from tongsa.base.cache import Cache
from tongsa.base.errors import DirectoryError, UsageError
from tongsa.base.regular import open_regular
from tongsa.config import TransformerSection
from tongsa.engines.precision import LARGEST_ERROR, cpu_facts, relative_error, weight_bits, written_by
from tongsa.engines.shapes import shapes
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.runs.header import check_weights
from tongsa.text.subwords import Subwords

ABOUT = "tongsa.json"
LAYOUT = 5
"""Version of the compilation; raised when the same weights must be compiled differently."""

PROOF_SENTENCES = 32
"""Sentences on which int8 is compared with float32."""

RANDOM_TO_REAL = 2
"""The error on real text is about so many times that on random input, of which no model is as sure."""

LONGEST_EXAMPLE = 1 << 16
"""Most bytes of a line of the validation examples."""

POSITIONS = 2048
"""Rows of the table of sinusoids, which CTranslate2 cannot extend for longer sentences."""

CACHE = Cache("engines")

LOGGER = logging.getLogger("tongsa.engines")


def max_positions(config: TransformerSection) -> int:
    """Return the number of positions of a compiled model."""
    return config.max_positions if config.positions == "learned" else POSITIONS


def transformer(card: Card) -> TransformerSection:
    if not isinstance(card.recipe.model, TransformerSection):
        raise UsageError(
            f"CTranslate2 runs the Transformer, not {card.recipe.model.architecture}",
            "Use the other engine:  --engine native",
        )
    if found := card.recipe.model.experimental():
        raise UsageError("CTranslate2 does not have this Transformer", *found, "Use the other engine:  --engine native")
    return card.recipe.model


class CompiledEngines:
    """The compiled engines of a translator directory."""

    def __init__(self, directory: Path, card: Card, subwords: Subwords) -> None:
        self.run, self.card, self.subwords = Run(directory), card, subwords
        self.config = transformer(card)
        self._folders: dict[str, Path] = {}

    def folder(self, precision: str, *, shortlist: bool = False) -> Path:
        """Return the folder of the engine of this precision; compile it if it is missing."""
        name = f"{'shortlist.' if shortlist else ''}{precision}-{self._key(precision, shortlist=shortlist)}"
        if name not in self._folders or not self._folders[name].is_dir():
            found = CACHE.get(name, lambda folder: self._write(folder, precision, shortlist=shortlist))
            if found.note:
                LOGGER.warning("%s; the compiled engine lasts until this process ends", found.note)
            self._folders[name] = found.path
        return self._folders[name]

    def right_precision(self) -> str:
        """Return the precision of `auto` on a CPU: int8 if it was measured to be close to float32, else float32."""
        about = json.loads((self.folder("int8") / ABOUT).read_text(encoding="utf-8"))
        return "int8" if about["error"] <= LARGEST_ERROR else "float32"

    @cached_property
    def _weights(self) -> str:
        """The checksum of the weights, which are checked against the card and the subwords first."""
        return check_weights(self.run, self.card, shapes(self.config, self.subwords))

    def _key(self, precision: str, *, shortlist: bool) -> str:
        """Hash everything that a compiled engine depends on."""
        bits = weight_bits() if precision == "int8" else 32
        facts = (LAYOUT, POSITIONS, ctranslate2.__version__, cpu_facts(), bits, self.config, self._weights)
        digest = hashlib.sha256(repr(facts).encode())
        for vocabulary in (self.subwords.source, self.subwords.target):
            digest.update(hashlib.sha256(vocabulary.model).digest())
        if shortlist:
            from tongsa.engines.shortlist import fingerprint

            digest.update(fingerprint(self.run.path).encode())
        return digest.hexdigest()[:32]

    def _write(self, folder: Path, precision: str, *, shortlist: bool) -> None:
        # These import numpy, which is not needed once the engine is compiled.
        from tongsa.engines.ctranslate2_export import write_ctranslate2
        from tongsa.engines.weights import read_weights

        weights = read_weights(self.run, self.card, self.config, self.subwords)
        about: dict[str, Any] = {"precision": precision}
        with tempfile.TemporaryDirectory() as name:
            if precision == "int8":  # float32 first: CTranslate2 rounds the weights in place
                write_ctranslate2(Path(name), weights, self.config, self.subwords, "float32")
            write_ctranslate2(folder, weights, self.config, self.subwords, precision, weight_bits())
            if precision == "int8":
                about |= {"bits": weight_bits(), "error": self._error(folder, Path(name))}
        (folder / ABOUT).write_text(json.dumps(about), encoding="utf-8")
        if shortlist:
            from tongsa.engines.shortlist import write_shortlist

            write_shortlist(folder, self.run.path, self.subwords)

    def _error(self, rounded: Path, exact: Path) -> float:
        """Return the error of int8 on validation examples, or else on translations of random input."""
        source, target = self.subwords.source, self.subwords.target
        examples = [(source.encode(a), target.encode(b)) for a, b in _examples(self.run)]
        short = [(a, b) for a, b in examples if max(len(a), len(b)) < max_positions(self.config)]
        if short:
            return relative_error(rounded, exact, [(source.pieces(a), target.pieces(b)) for a, b in short])
        draw = random.Random(1)
        pieces = source.all_pieces()[:-1]
        most = min(20, max_positions(self.config) // 2)
        noise = [draw.choices(pieces, k=draw.randint(1, most)) for _ in range(PROOF_SENTENCES)]
        return RANDOM_TO_REAL * relative_error(rounded, exact, written_by(exact, noise, most))


def _examples(run: Run) -> list[tuple[str, str]]:
    """Return validation pairs; none if they are missing or unreadable."""
    try:
        with open_regular(run.examples_file) as file:
            lines = [file.readline(LONGEST_EXAMPLE).decode("utf-8") for _ in range(PROOF_SENTENCES)]
        examples = [json.loads(line) for line in lines if line]
        return [(str(example["source"]), str(example["reference"])) for example in examples]
    except (DirectoryError, OSError, ValueError, KeyError, TypeError, RecursionError):
        return []
