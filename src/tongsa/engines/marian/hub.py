"""OPUS-MT's models on the hub of Hugging Face: found by the languages, fetched, and imported as translators.

    GET /api/models/OWNER/MODEL?blobs=true       the commit, and each file with its size and hash
    GET /OWNER/MODEL/resolve/COMMIT/FILE         a file

$HF_ENDPOINT names another server with the same interface.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tongsa.base.cache import cache_directory
from tongsa.base.download import Remote, download, get_json
from tongsa.base.errors import DownloadError, UsageError
from tongsa.base.files import make_directory, replacing
from tongsa.base.progress import Show
from tongsa.engines.marian.importer import check_marian, import_marian
from tongsa.runs.card import Card
from tongsa.runs.names import NAME, fetched_directory

OWNER = "Helsinki-NLP"

KINDS = ("opus-mt", "opus-mt-tc-big", "opus-mt-tc-base", "opus-tatoeba")
"""Beginnings of the names of OPUS-MT's models, in the order in which they are tried."""
OTHER_CODES = {"ja": "jap"}
"""Codes that some names have instead of the usual one."""

DIRECTION = re.compile(r"[A-Za-z]{2,}(?:[_+][A-Za-z]+)*-[A-Za-z]{2,}(?:[_+][A-Za-z]+)*")
"""Two languages or groups of languages: en-de, zh_Hans-en, ROMANCE-en."""
MODEL = re.compile(r"(?:[\w.-]+/)?[A-Za-z][\w.+-]*")

NEEDED = ("config.json", "source.spm", "target.spm", "vocab.json", "tokenizer_config.json")
OPTIONAL = ("target_vocab.json", "generation_config.json")
WEIGHTS = ("model.safetensors", "pytorch_model.bin")
"""The first one that a model has is fetched."""

LARGEST = 16 << 30
"""Largest file that is fetched, in bytes."""


@dataclass(frozen=True, kw_only=True)
class HubModel:
    """A model on the hub, at one commit."""

    name: str
    commit: str
    licence: str
    files: Mapping[str, Remote]

    @property
    def languages(self) -> tuple[str, str]:
        """The codes in the model's name; empty if it is not named as OPUS-MT's are."""
        found = re.fullmatch(r"opus-(?:mt|mt-tc-\w+|tatoeba)-([a-z]{2,3})-([a-z]{2,3})", self.name.split("/")[-1])
        usual = {other: code for code, other in OTHER_CODES.items()}
        return (usual.get(found[1], found[1]), usual.get(found[2], found[2])) if found else ("", "")

    def small(self) -> list[Remote]:
        missing = [name for name in NEEDED if name not in self.files]
        if missing:
            raise UsageError(f"{self.name} is not a MarianMT model: it has no {', '.join(missing)}")
        return [self.files[name] for name in (*NEEDED, *OPTIONAL) if name in self.files]

    def weights(self) -> Remote:
        found = next((self.files[name] for name in WEIGHTS if name in self.files), None)
        if found is None:
            raise UsageError(f"{self.name} has no weights: {' or '.join(WEIGHTS)}")
        return found


def endpoint() -> str:
    return (os.environ.get("HF_ENDPOINT") or "https://huggingface.co").rstrip("/")


def candidates(name: str) -> list[str]:
    """Return the models that a name may stand for: languages (en-de), or a model with or without its owner."""
    if "/" in name and MODEL.fullmatch(name):
        return [name]
    if name.startswith("opus-") and MODEL.fullmatch(name):
        return [f"{OWNER}/{name}"]
    if not DIRECTION.fullmatch(name):
        raise UsageError(
            f"{name} is neither a pair of languages nor a model",
            "For example:  tongsa get en-de      tongsa get Helsinki-NLP/opus-mt-tc-big-en-ko",
        )
    source, target = name.split("-")
    codes = dict.fromkeys(
        (a, b) for a in (source, OTHER_CODES.get(source, source)) for b in (target, OTHER_CODES.get(target, target))
    )
    return [f"{OWNER}/{kind}-{a}-{b}" for a, b in codes for kind in KINDS]


def find_model(name: str) -> HubModel:
    """Return the first model on the hub that a name may stand for."""
    tried = candidates(name)
    for each in tried:
        answer = get_json(f"{endpoint()}/api/models/{quote(each)}?blobs=true")
        if answer is not None:
            return _model(each, answer)
    similar = _similar(name)
    raise DownloadError(
        f"{endpoint()} has no model for {name}",
        f"Tried: {', '.join(tried)}",
        *([f"Similar: {', '.join(similar)}"] if similar else []),
    )


def fetch(name: str, out: Path, show: Show) -> Card:
    """Fetch a model from the hub and write it as the translator directory `out`."""
    model = find_model(name)
    folder = cache_directory() / "downloads" / re.sub(r"[^\w.-]", "--", model.name) / model.commit
    weights = model.weights()
    small = model.small()
    total = sum(remote.size for remote in (*small, weights)) / 1e6
    show.say(f"{model.name} at {model.commit[:12]}: {total:,.0f} MB, licence {model.licence or 'not stated'}")
    with show.bar("fetching", total, "MB") as bar:
        for remote in small:
            download(remote, folder, lambda amount: bar.advance(amount / 1e6))
        check_marian(folder)  # before hundreds of megabytes are fetched
        download(weights, folder, lambda amount: bar.advance(amount / 1e6))
    source, target = model.languages
    make_directory(out.parent)
    with replacing(out) as temporary:
        card = import_marian(
            folder,
            temporary,
            source=source,
            target=target,
            origin=f"{model.name} at {model.commit}",
            licence=model.licence,
        )
    shutil.rmtree(folder.parent, ignore_errors=True)
    return card


def place(name: str) -> Path:
    """Return the directory in which a fetched translator is kept under a name."""
    short = name.split("/")[-1]
    if not NAME.fullmatch(short):
        raise UsageError(f"{short} cannot be the name of a translator", "Letters, digits and - _ . + can be used.")
    return fetched_directory() / short


def _model(name: str, answer: Any) -> HubModel:
    try:
        commit = str(answer["sha"])
        if not re.fullmatch(r"[0-9a-f]{7,64}", commit):
            raise ValueError("its commit is not one")
        files = [_remote(name, commit, each) for each in answer["siblings"] if each["rfilename"] in _FETCHED]
        data = answer.get("cardData") or {}
        return HubModel(
            name=name,
            commit=commit,
            licence=str(data.get("license") or "")[:100],
            files={remote.name: remote for remote in files},
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DownloadError(f"{endpoint()} describes {name} in a way that is not understood: {error!r}") from error


_FETCHED = {*NEEDED, *OPTIONAL, *WEIGHTS}


def _remote(name: str, commit: str, described: Mapping[str, Any]) -> Remote:
    file, size = str(described["rfilename"]), described["size"]
    if type(size) is not int or not 0 <= size <= LARGEST:
        raise ValueError(f"the size of {file} is {size}")
    sha256 = str((described.get("lfs") or {}).get("sha256") or "")
    return Remote(
        url=f"{endpoint()}/{quote(name)}/resolve/{commit}/{file}",
        name=file,
        size=size,
        sha256=sha256,
        blob="" if sha256 else str(described["blobId"]),
    )


def _similar(name: str) -> list[str]:
    """Return names of models that the hub finds for the languages."""
    try:
        found = get_json(f"{endpoint()}/api/models?author={OWNER}&search={quote(name.split('/')[-1])}&limit=10")
        return [str(each["id"]) for each in found or []][:10]
    except (DownloadError, KeyError, TypeError):
        return []
