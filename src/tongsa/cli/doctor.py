"""`tongsa doctor`"""

from __future__ import annotations

import os
import platform
import shutil
import sys

from tongsa.base.devices import usable_cores

PACKAGES = ["numpy", "sentencepiece", "safetensors", "sacrebleu", "ctranslate2", "typer", "rich"]
PACKAGES += ["lxml", "py3langid"]
EXTRAS = {"torch": "train", "tensorboard": "tensorboard", "pyarrow": "parquet", "mtdata": "mtdata"}


def doctor() -> None:
    """Report what this machine has, and what is missing.

    Example:  tongsa doctor
    """
    from tongsa import __version__

    rows = [("tongsa", __version__), ("python", f"{sys.version.split()[0]} on {platform.platform()}")]
    rows += [(name, _version(name)) for name in PACKAGES]
    rows += [(name, _version(name, f"not installed:  pip install 'tongsa[{extra}]'")) for name, extra in EXTRAS.items()]
    rows += [
        ("cores", str(usable_cores())),
        ("memory", _memory()),
        ("disk", f"{shutil.disk_usage('.').free / 2**30:.0f} GiB free"),
    ]
    rows += [("int8", _int8()), ("gpu", _gpu())]
    for name, value in rows:
        print(f"{name:14} {value}")


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
