"""`tongsa lab digits`"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def digits(
    out: Annotated[Path, typer.Option("--out", help="Folder to write: train/LABEL/*.png and test/LABEL/*.png.")],
) -> None:
    """Write the 1,797 handwritten digits that come with scikit-learn as a folder of pictures, to train a ViT on.

    Example:  tongsa lab digits --out data/digits
    """
    from tongsa.lab.digits import write_digits

    for part, count in write_digits(out).items():
        print(f"{out / part}: {count:,} pictures")
    print(f"next:  tongsa train --task classify {out / 'train'} --out runs/digits --minutes 5")
