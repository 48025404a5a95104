"""Continuing a training: what must be as it was when the training began, and repairing damaged data."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

from tongsa.base.checksums import Checksums, sealed, unsealed
from tongsa.base.containers import files_in
from tongsa.base.devices import choose_device
from tongsa.base.errors import DirectoryError, TongsaError, UsageError
from tongsa.base.files import write_atomically
from tongsa.base.progress import Show
from tongsa.config import Recipe
from tongsa.data.prepare import DIVERSIFIED
from tongsa.formats.pairs import Reading, aligned_files
from tongsa.runs.directory import Run
from tongsa.runs.job import TrainOptions
from tongsa.tasks import TASKS

RESUMABLE: dict[str, list[str]] = {"corpus": [], "subwords": ["sampling"], "model": ["dropout"]}
"""Sections that a resumed training must keep, with the keys that may change because no shape or id depends on them."""

FIXED = {
    "task": "--task",
    "source": "--from",
    "target": "--to",
    "seed": "--seed",
    "recipe": "--recipe",
    "init": "the translator to fine-tune",
    "teacher": "the teacher",
    "subwords": "the subwords of",
    "mix_ratio": "--mix-ratio",
    "silver_ratio": "--silver-ratio",
}
"""Options that a continued training must keep, by the names that users know."""

PATHS = ("recipe", "init", "teacher", "subwords")
"""Those of them that may name a file or directory in several ways."""

TEXTS = {"corpora": "corpus", "valid": "--valid", "mix": "--mix", "silver": "--silver"}
"""Options that name files of text; the text must be the same, the names need not be."""

SAMPLES, SAMPLE = 64, 1 << 16
"""A file is recognised by its size and this many stretches of so many bytes, so that a large one is not read whole."""


def change_job(
    run: Run,
    settings: Mapping[str, str],
    minutes: float | None,
    device: str | None,
    loggers: tuple[str, ...] = (),
) -> None:
    """Change the recipe, budget, device or loggers of a training before it is resumed."""
    recipe, job = run.read_job()
    changed = recipe.with_settings(settings)
    for section, free in RESUMABLE.items():
        before, after = getattr(recipe, section), getattr(changed, section)
        if dataclasses.replace(before, **{key: getattr(after, key) for key in free}) != after:
            raise UsageError(
                f"the section [{section}] of a training cannot change when it is resumed",
                "Start a new training with another --out instead.",
            )
    if changed.training.diversify != recipe.training.diversify:
        raise UsageError(
            "training.diversify of a training cannot change when it is resumed",
            "It decides about the text to learn from. Start a new training with another --out instead.",
        )
    options = dataclasses.replace(
        job.options, minutes=minutes or job.options.minutes, loggers=loggers or job.options.loggers
    )
    place = str(choose_device(device)) if device else job.device
    run.write_job(changed, dataclasses.replace(job, options=options, device=place))


def write_data(run: Run, options: TrainOptions, show: Show) -> Recipe:
    """Let the task prepare its data; record what it was made from, and the checksums of all that was written."""
    before = began(options)
    recipe = TASKS.find(options.task).prepare(run, options, show)
    _write_began(run, before)
    return recipe


def write_began(run: Run, options: TrainOptions) -> None:
    """Record that these options began the training whose prepared data is in this directory."""
    _write_began(run, began(options))


def _write_began(run: Run, values: Mapping[str, Any]) -> None:
    write_atomically(run.began_file, json.dumps(sealed(values), ensure_ascii=False))
    run.write_checksums()


def began(options: TrainOptions) -> dict[str, Any]:
    """What a training that is continued must have in common with the one that began, to be stored as JSON."""
    return {"options": _fixed(options), "texts": _fingerprints(options)}


def refuse_changes(run: Run, now: TrainOptions) -> None:
    """Raise an error if the training in this directory began with other options or other text."""
    before, texts = _began(run)
    found = _differences(before, texts, now) if before else []
    if found:
        raise UsageError(
            f"{run.path} holds a training with other options",
            *found,
            "Give the same ones to continue it, or another --out to begin a new training.",
            f"To continue it with other settings:  tongsa resume {run.path} --set SECTION.KEY=VALUE",
        )


def differences(values: Mapping[str, Any], now: TrainOptions) -> list[str]:
    """How options and text differ from what `began` returned before, which may have been stored as JSON."""
    return _differences(values["options"], _texts(values), now)


def _differences(before: Mapping[str, Any], texts: Texts, now: TrainOptions) -> list[str]:
    found = [
        f"{name}: {_shown(before[field])} before, {_shown(value)} now"
        for field, name in FIXED.items()
        if before[field] != (value := getattr(now, field)) and not (field in PATHS and _same(before[field], value))
    ]
    for key in sorted({*before["settings"], *now.settings}):
        old, new = before["settings"].get(key), now.settings.get(key)
        if old != new:
            found.append(f"--set {key}: {_shown(old)} before, {_shown(new)} now")
    return found + _changed(before, texts, now)


def changed_texts(run: Run, options: TrainOptions) -> list[str]:
    """How the text that a training was prepared from has changed since."""
    before, texts = _began(run)
    return _changed(before, texts, options) if before else []


Texts = dict[str, dict[str, tuple[int, str]]]
"""Size and digest of every file of text, by option and name."""


def _changed(before: Mapping[str, Any], texts: Texts, now: TrainOptions) -> list[str]:
    there = _fingerprints(now)
    found = []
    for field, name in TEXTS.items():
        old, new = texts[field], there[field]
        if old and [*old.values()] == [*new.values()]:
            continue  # the same text, wherever it is now
        if tuple(before[field]) != getattr(now, field):
            found.append(f"{name}: {_shown(tuple(before[field]))} before, {_shown(getattr(now, field))} now")
            continue
        found += [
            f"{file} has changed since the training began" for file in old if new.get(file, old[file]) != old[file]
        ]
        found += [f"{file} is new since the training began" for file in new if old and file not in old]
    return found


def _began(run: Run) -> tuple[dict[str, Any] | None, Texts]:
    """The options and texts that a training began with, as far as they are known and undamaged."""
    unknown: Texts = {field: {} for field in TEXTS}
    for path in (run.began_file, run.damaged_data / run.began_file.name):
        with suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
            values = unsealed(json.loads(path.read_text(encoding="utf-8")))
            return values["options"], _texts(values)
    with suppress(TongsaError):  # an older version prepared it
        return _fixed(run.read_job()[1].options), unknown
    return None, unknown


def _texts(values: Mapping[str, Any]) -> Texts:
    return {field: {name: tuple(mark) for name, mark in values["texts"][field].items()} for field in TEXTS}


def _fixed(options: TrainOptions) -> dict[str, Any]:
    values = dataclasses.asdict(options)
    return {field: values[field] for field in (*FIXED, *TEXTS, "settings")}


def repair_prepared(run: Run, options: TrainOptions, show: Show) -> None:
    """Prepare the data of a training again if it is damaged."""
    try:
        run.check_prepared()
    except DirectoryError as damage:
        *problems, _ = damage.explanation
        for line in (damage.what, *problems, "preparing it again from the corpus"):
            show.say(line)
        try:
            prepare_again(run, options, show)
        except TongsaError as error:
            raise DirectoryError(
                damage.what, *problems, f"It cannot be prepared again: {error.what}", *error.explanation
            ) from error


def prepare_again(run: Run, options: TrainOptions, show: Show) -> Recipe:
    """Replace the data; what was prepared before comes back if this fails, or if the result is not the same."""
    aside = run.damaged_data
    if not aside.is_dir():  # it is there after a kill on the way
        run.data.rename(aside)
    try:
        written = Checksums.read(aside / run.checksums_file.name)
    except ValueError:
        written = None
    try:
        recipe = write_data(run, options, show)
        if (aside / DIVERSIFIED).is_dir():  # only the translators that made these pairs could make them again
            shutil.copytree(aside / DIVERSIFIED, run.data / DIVERSIFIED)
            run.write_checksums()
        if written and _data(written, run) != _data(Checksums.read(run.checksums_file), run):
            made = ", or the pairs made of it are damaged" if (aside / DIVERSIFIED).is_dir() else ""
            raise DirectoryError(f"the corpus is no longer the one that the training began with{made}")
    except Exception:
        shutil.rmtree(run.data, ignore_errors=True)
        aside.rename(run.data)
        raise
    shutil.rmtree(aside, ignore_errors=True)
    return recipe


def _data(checksums: Checksums | None, run: Run) -> dict[str, Any]:
    """The checksums of the data itself."""
    assert checksums, "they have just been written"
    began = run.began_file.relative_to(run.path).as_posix()
    return {file: checksum for file, checksum in checksums.files.items() if file != began}


def _fingerprints(options: TrainOptions) -> Texts:
    return {
        field: {str(path): _fingerprint(path) for name in getattr(options, field) for path in _files(name, options)}
        for field in TEXTS
    }


def _files(name: str, options: TrainOptions) -> Iterator[Path]:
    """The files of a corpus that are there; those of mtdata never change."""
    path = Path(name)
    if path.is_file():
        yield path
    elif options.source and any(both := aligned_files(path, Reading(source=options.source, target=options.target))):
        yield from (each for each in both if each and each.is_file())
    elif path.is_dir():
        yield from files_in(path)


def _fingerprint(path: Path) -> tuple[int, str]:
    digest = blake2b(digest_size=16)
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            behind = max(0, size - SAMPLE)
            for place in sorted({behind * number // (SAMPLES - 1) for number in range(SAMPLES)}):
                file.seek(place)
                digest.update(file.read(SAMPLE))
    except OSError:  # the reader of the corpus tells
        return 0, "unreadable"
    return size, digest.hexdigest()


def _same(old: str | None, new: str | None) -> bool:
    """Whether two paths are those of one existing file or directory."""
    if not (old and new):
        return False
    return Path(old).exists() and Path(new).exists() and Path(old).samefile(new)


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return "none" if value in (None, "") else str(value)
