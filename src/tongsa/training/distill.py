"""Distillation: a student learns from a teacher's translations (Kim and Rush 2016).

A teacher's translations are simpler and more regular than people's, so a student with a shallow decoder (which takes
most of the time of translating) comes close to the teacher. The teacher has memorised much of a small corpus, and a
student that sees nothing else memorises it too; so it also learns from the corpus's own translations.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

from tongsa.base.files import replacing, write_atomically
from tongsa.base.progress import Show, Silent
from tongsa.config import CorpusSection
from tongsa.formats.pairs import Pair, Reading, open_corpus
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.runs.names import find_translator
from tongsa.tasks.inheriting import student_recipe
from tongsa.text.lines import tidy
from tongsa.training.run import names, train_with
from tongsa.translation.options import TranslateOptions
from tongsa.translation.translator import Translator

BLOCK = 4096
RECIPE = "student.toml"


def distil(
    teacher: str | Path,
    options: TrainOptions,
    out: str | Path,
    *,
    beam: int = 4,
    inherit: bool = True,
    references: bool = True,
    resume: bool = False,
    show: Show | None = None,
) -> Translator | None:
    """Let a teacher translate the corpora of the options into `out`/distilled, and train a student on that.

    beam        beam size of the teacher's search
    inherit     start with the teacher's weights that fit; the subwords are always the teacher's
    references  learn from the corpora's own translations too
    resume      continue the same training if `out` holds it already

    The languages are the teacher's. The recipe `auto` is the teacher's own with two decoder layers.
    """
    show = show or Silent()
    options.check()
    master = Translator.load(teacher, device=options.device, threads=options.threads)
    run = Run(Path(out))
    folder = run.distilled
    if not folder.is_dir():
        encoding = str(options.settings.get("corpus.encoding", CorpusSection.encoding))
        reading = Reading(source=master.card.source, target=master.card.target, encoding=encoding)
        _translate(master, open_corpus(options.corpora, reading), folder, beam, show)
    recipe = options.recipe
    if recipe == "auto":
        recipe = str(folder / RECIPE)
        write_atomically(folder / RECIPE, student_recipe(Run(find_translator(teacher))).to_toml())
    written = {key: value for key, value in options.settings.items() if key != "corpus.encoding"}
    found: Translator | None = train_with(
        dataclasses.replace(
            options,
            corpora=names([folder / "train", folder / "references"] if references else folder / "train"),
            source=master.card.source,
            target=master.card.target,
            recipe=recipe,
            settings=written,
            subwords=None if inherit else str(teacher),
            teacher=str(teacher) if inherit else None,
        ),
        run,
        show,
        resume=resume,
    )
    return found


def _translate(teacher: Translator, pairs: Iterable[Pair], folder: Path, beam: int, show: Show) -> None:
    """Write every source with the teacher's translation, completely or not at all."""
    options = TranslateOptions(search=dataclasses.replace(teacher.search, beam=beam), tokens=False)
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
