"""The handwritten digits of scikit-learn (8 x 8 pixels, from the UCI archive, CC BY 4.0) as pictures in folders."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np

from tongsa.base.errors import MissingExtraError, UsageError
from tongsa.base.files import replacing
from tongsa.formats.pictures import write_png

TEST_SHARE = 5
"""One in this many pictures is for the test."""
BRIGHTEST = 16
"""The values of the pixels are 0 to 16."""


def write_digits(out: Path) -> Counter[str]:
    """Write train/LABEL/NUMBER.png and test/LABEL/NUMBER.png; return how many of each part there are."""
    if out.exists():
        raise UsageError(f"{out} already exists", "Choose another folder: nothing is overwritten.")
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError as error:
        raise MissingExtraError("scikit-learn", "digits", needed_by="lab digits") from error
    found = load_digits()
    counts: Counter[str] = Counter()
    with replacing(out) as folder:
        for number, (picture, label) in enumerate(zip(found.images, found.target, strict=True)):
            part = "test" if number % TEST_SHARE == TEST_SHARE - 1 else "train"
            values = np.minimum(255, np.asarray(picture) * 256 / BRIGHTEST)
            write_png(folder / part / str(label) / f"{number:04}.png", values)
            counts[part] += 1
    return counts
