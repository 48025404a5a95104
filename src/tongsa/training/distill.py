"""Distillation: a student learns from a teacher's translations (Kim and Rush 2016).

What a teacher writes is simpler and more regular than what people write, so a student with a shallow decoder, which is
where the time of translating goes, comes close to it. Of a small corpus the teacher knows much by heart, and a student
that sees nothing else learns it by heart too: so it learns from the corpus's own translations as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path

from tongsa.base.files import replacing, write_atomically
from tongsa.base.progress import Show, Silent
from tongsa.formats.pairs import Pair, Reading, open_corpus
from tongsa.text.lines import tidy
from tongsa.training.inherit import student_recipe
from tongsa.training.run import Names, train
from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translator

BLOCK = 4096
RECIPE = "student.toml"


def distil(
    teacher: str | Path,
    corpus: Sequence[str | Path],
    *,
    out: str | Path,
    recipe: str | None = None,
    settings: Mapping[str, str] | None = None,
    valid: Names | None = None,
    beam: int = 4,
    minutes: float | None = None,
    seed: int = 1,
    resume: bool = False,
    encoding: str = "utf-8",
    threads: int | None = None,
    device: str = "auto",
    show: Show | None = None,
    inherit: bool = True,
    references: bool = True,
) -> Translator | None:
    """Write the teacher's translation of the corpus to `out`/distilled; train a student on it, with its subwords.

    recipe      of the student; without one it is the teacher's own with two decoder layers
    inherit     begin with those of the teacher's weights that fit
    references  learn from the translations of the corpus too
    """
    show = show or Silent()
    master = Translator.load(teacher, device=device, threads=threads)
    source, target = master.card.source, master.card.target
    folder = Path(out) / "distilled"
    if not folder.is_dir():
        pairs = open_corpus(corpus, Reading(source=source, target=target, encoding=encoding))
        _translate(master, pairs, folder, beam, show)
    if not recipe:
        write_atomically(folder / RECIPE, student_recipe(Path(teacher)).to_toml())
    return train(
        [folder / "train", folder / "references"] if references else folder / "train",
        source=source,
        target=target,
        out=out,
        valid=valid,
        recipe=recipe or str(folder / RECIPE),
        settings=settings,
        minutes=minutes,
        seed=seed,
        resume=resume,
        threads=threads,
        device=device,
        show=show,
        subwords=None if inherit else teacher,
        teacher=teacher if inherit else None,
    )


def _translate(teacher: Translator, pairs: Iterable[Pair], folder: Path, beam: int, show: Show) -> None:
    """Every source with the teacher's translation; written whole or not at all."""
    options = TranslateOptions(search=replace(teacher.search, beam=beam), tokens=False)
    rest = iter(pairs)
    with replacing(folder) as temporary, show.bar("teacher translates", None, "pairs") as bar:
        temporary.mkdir()
        with ExitStack() as stack:
            files = {
                (kind, language): stack.enter_context((temporary / f"{kind}.{language}").open("w", encoding="utf-8"))
                for kind in ("train", "references")
                for language in (teacher.card.source, teacher.card.target)
            }
            while block := list(islice(rest, BLOCK)):
                texts = [tidy(pair.source) for pair in block]
                found = [one.text for one in teacher.translate(texts, options)]
                columns = [texts, found, texts, [tidy(pair.target) for pair in block]]
                for file, column in zip(files.values(), columns, strict=True):
                    file.writelines(text + "\n" for text in column)
                bar.advance(len(block))
