"""`tongsa doctor`"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from tongsa.base.devices import usable_cores
from tongsa.runs.names import find_translator, known

PACKAGES = ["numpy", "sentencepiece", "safetensors", "sacrebleu", "ctranslate2", "typer", "rich"]
PACKAGES += ["lxml", "markdown-it-py", "mdit-py-plugins", "py3langid"]
EXTRAS = {
    "torch": "train",
    "tensorboard": "tensorboard",
    "mlflow": "mlflow",
    "wandb": "wandb",
    "unbabel-comet": "comet",
    "pyarrow": "parquet",
    "mtdata": "mtdata",
    "matplotlib": "pictures",
    "pillow": "pictures",
    "scikit-learn": "digits",
    "fastapi": "serve",
    "uvicorn": "serve",
    "httptools": "serve",
    "uvloop": "serve",
    "orjson": "serve",
    "python-multipart": "serve",
    "prometheus-client": "serve",
}
"""Packages of the extras that a user installs, and the extra that has each."""


def doctor(
    directory: Annotated[
        Path | None,
        typer.Argument(metavar="DIR", help="Check whether this translator is sound.", parser=find_translator),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Report what this machine has, and what is missing; or check a translator directory.

    The exit code is 1 if the directory is not sound.

    Examples:  tongsa doctor      tongsa doctor runs/en-de
    """
    if directory is not None:
        _check(directory, as_json)
        return
    rows = _machine()
    if as_json:
        print(json.dumps(dict(rows), indent=2, ensure_ascii=False))
        return
    for name, value in rows:
        print(f"{name:17} {value}")


def _check(directory: Path, as_json: bool) -> None:
    from tongsa.cli.soundness import check_directory

    checks = []
    for check in check_directory(directory):
        checks.append(check)
        if not as_json:
            text = check.text.replace("\n", "\n" + 15 * " ")
            print(f"{check.name:14} {'' if check.sound else 'NOT SOUND: '}{text}", flush=True)
    sound = all(check.sound for check in checks)
    if as_json:
        values = {
            "directory": str(directory),
            "sound": sound,
            "checks": [dataclasses.asdict(check) for check in checks],
        }
        print(json.dumps(values, indent=2, ensure_ascii=False))
    else:
        print(f"{directory} is {'sound' if sound else 'not sound'}")
    if not sound:
        raise typer.Exit(1)


def _machine() -> list[tuple[str, str]]:
    """Return what this machine has, by name."""
    from tongsa import __version__
    from tongsa.base.cache import cache_directory

    rows = [("tongsa", __version__), ("python", f"{sys.version.split()[0]} on {platform.platform()}")]
    rows += [(name, _version(name)) for name in PACKAGES]
    rows += [(name, _version(name, f"not installed:  pip install 'tongsa[{extra}]'")) for name, extra in EXTRAS.items()]
    rows += [
        ("cores", str(usable_cores())),
        ("memory", _memory()),
        ("disk", f"{shutil.disk_usage('.').free / 2**30:.0f} GiB free"),
    ]
    rows += [("cache", str(cache_directory())), ("translators", ", ".join(sorted(known())) or "none with a name")]
    return [*rows, ("int8", _int8()), ("gpu", _gpu()), ("hangul-fonts", _hangul_fonts())]


def _version(package: str, otherwise: str = "not installed:  pip install tongsa") -> str:
    import importlib.metadata

    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return otherwise


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    except (ValueError, OSError, AttributeError):
        return "unknown"


def _int8() -> str:
    try:
        from tongsa.engines.precision import weight_bits
    except ImportError as error:
        return f"unknown: CTranslate2 cannot be imported ({error})"
    if weight_bits() == 8:
        return "weights of 8 bits: this CPU adds their products without overflow"
    return "weights of 7 bits: on this CPU products of 8 bits could overflow"


def _hangul_fonts() -> str:
    """Say whether pictures can show Korean."""
    try:
        from tongsa.pages.attention_picture import fonts

        families, missing = fonts("한글")
    except ImportError:
        return "unknown: pictures need matplotlib"
    if missing:
        return "none: Korean in pictures is shown as boxes. Install one, for example Noto Sans CJK (fonts-noto-cjk)"
    return families[-1]


def _gpu() -> str:
    try:
        import torch
    except ModuleNotFoundError:
        return "unknown: training and GPUs need torch"
    except ImportError as error:  # a broken installation is worth reporting
        return f"unknown: PyTorch cannot be imported ({error})"
    if not torch.cuda.is_available():
        return "none that PyTorch can use: training and translation run on the CPU"
    return ", ".join(torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count()))
