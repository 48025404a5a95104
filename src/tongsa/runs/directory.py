"""The run directory as an object; the only place that knows the names of its files.

translator.json       the card: task, languages, recipe, provenance, scores
subwords.model        SentencePiece (or subwords.source.model and subwords.target.model)
frequencies.bin       how frequent each piece of the source is in the training text
tags.json             a parser's words with their tags
labels.json           the labels of a classifier
weights.safetensors   not a pickle: loading an untrusted translator runs no code
recipe.toml job.json  recipe and options of the training
checkpoints/          states from which training can resume
data/                 ids and validation texts, as data/prepare.py writes them, and the checksums of them
.lock                 held by the process that is training here
log.jsonl             events of the training, one per line
tune.json             what a search for the recipe has tried, with tune.html and tune.toml
validation.jsonl      the validation examples with the model's output
report.html           report for people
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tongsa
from tongsa.base.checksums import CHECKSUMS, Checksums, sealed_text, unsealed_text
from tongsa.base.errors import DirectoryError, RecipeError
from tongsa.base.files import write_atomically
from tongsa.base.regular import checksum, open_regular, read_json, read_regular
from tongsa.config import Recipe, read_toml
from tongsa.config.recipe import shown
from tongsa.runs.card import COMPACT_FORMAT, Card
from tongsa.runs.job import Job
from tongsa.runs.log import read_log
from tongsa.runs.names import CARD, advice
from tongsa.text.frequencies import PieceFrequencies
from tongsa.text.subwords import Subwords

DAMAGED = "Copy the directory again, or train again."

_SEARCH_AGAIN = "It holds a search for a recipe. Continue that with the command that began it (tongsa train --tune)."

_WRITE_AGAIN = "To write it again and go on, repeat the command that began the training with --resume added."


@dataclass(frozen=True)
class Run:
    """The directory of a training, running or finished."""

    path: Path

    @property
    def card_file(self) -> Path:
        return self.path / CARD

    @property
    def weights_file(self) -> Path:
        return self.path / "weights.safetensors"

    @property
    def recipe_file(self) -> Path:
        return self.path / "recipe.toml"

    @property
    def job_file(self) -> Path:
        return self.path / "job.json"

    @property
    def log_file(self) -> Path:
        return self.path / "log.jsonl"

    @property
    def report_file(self) -> Path:
        return self.path / "report.html"

    @property
    def examples_file(self) -> Path:
        """Validation examples with the published model's output, for the report."""
        return self.path / "validation.jsonl"

    @property
    def domains_file(self) -> Path:
        """Scores on new and old text, before and after fine-tuning."""
        return self.path / "domains.json"

    @property
    def words_file(self) -> Path:
        """The vocabulary of a question answering model."""
        return self.path / "words.json"

    @property
    def frequencies_file(self) -> Path:
        """Frequencies of the source's pieces in the training text, for the confidence of translations."""
        return self.path / "frequencies.bin"

    @property
    def tags_file(self) -> Path:
        """The words of a parser, each with its tag."""
        return self.path / "tags.json"

    @property
    def labels_file(self) -> Path:
        """The labels of a classifier."""
        return self.path / "labels.json"

    @property
    def lock_file(self) -> Path:
        return self.path / ".lock"

    @property
    def checkpoints(self) -> Path:
        return self.path / "checkpoints"

    @property
    def old_engines(self) -> Path:
        """Engines that earlier versions compiled here; they are not used any more."""
        return self.path / "ctranslate2"

    @property
    def data(self) -> Path:
        """What the task prepared for training."""
        return self.path / "data"

    @property
    def checksums_file(self) -> Path:
        """Checksums of everything that was prepared for training, relative to the run directory."""
        return self.data / CHECKSUMS

    @property
    def began_file(self) -> Path:
        """The options and the text that the data was prepared from."""
        return self.data / "began.json"

    @property
    def damaged_data(self) -> Path:
        """Damaged data, while it is being prepared again."""
        return self.path / ".data.damaged"

    @property
    def training_ids(self) -> Path:
        return self.data / "train"

    @property
    def initial_weights_file(self) -> Path:
        """A copy of the weights that fine-tuning starts from."""
        return self.data / "initial.safetensors"

    @property
    def old_domain_file(self) -> Path:
        """Held-out pairs of the old domain, to measure what fine-tuning forgets."""
        return self.data / "old.json"

    @property
    def distilled(self) -> Path:
        """The corpus that a teacher model generated for a student."""
        return self.path / "distilled"

    @property
    def tune_file(self) -> Path:
        """The record of a search for the recipe; tune.html shows it, tune.toml is the recipe that it chose."""
        return self.path / "tune.json"

    @property
    def tune_folder(self) -> Path:
        """The trainings of a search, until it has ended."""
        return self.path / "tune"

    @property
    def diversify_folder(self) -> Path:
        """The trainings of the translators that make further pairs of the text, until they are made."""
        return self.path / "diversify"

    def read_card(self) -> Card:
        """Read the card, of any version; every problem with it is a DirectoryError."""
        path = self.card_file
        if not os.path.lexists(path):
            raise DirectoryError(f"{self.path} is not a translator: it has no {path.name}", *self._what_it_is())
        values = read_json(path)
        try:
            written = values["format"]
            if type(written) is not int:
                raise ValueError("its format is not a number")
            if written > COMPACT_FORMAT:
                raise DirectoryError(
                    f"{self.path} has format {written};"
                    f" this Tongsa ({tongsa.__version__}) reads up to {COMPACT_FORMAT}",
                    f"It was written by Tongsa {shown(values.get('tongsa', '?'))}:  pip install --upgrade tongsa",
                )
            return Card.from_values(values, str(path))
        except KeyError as error:
            raise DirectoryError(f"{path} is damaged: it has no {error}", DAMAGED) from error
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            raise DirectoryError(f"{path} is damaged: {error}", DAMAGED) from error
        except RecipeError as error:
            raise DirectoryError(error.what, *error.explanation) from error

    def _what_it_is(self) -> list[str]:
        if not self.path.exists():
            return [
                "There is no such directory. `tongsa train ... --out DIR` creates one.",
                *advice(str(self.path)),
            ]
        if self.recipe_file.is_file():
            return [f"It holds a training that has not been validated yet. To continue it:  tongsa resume {self.path}"]
        return ["`tongsa train ... --out DIR` writes a translator."]

    def write_translator(self, card: Card, weights: Mapping[str, Any]) -> None:
        """Write weights (tensors or arrays) and card, the card last: a directory with a card is complete."""
        import numpy as np
        from safetensors.numpy import save

        # Rows must be contiguous: safetensors writes the memory of an array as it is.
        arrays = {name: np.asarray(tensor, order="C") for name, tensor in weights.items()}
        if card.compact:
            from tongsa.runs.compact import rounded

            arrays = rounded(arrays)
        content = save(arrays)
        name, new = self.weights_file.name, hashlib.sha256(content).hexdigest()
        before = self._old_card()
        if name in before.checksums:  # killed in between, the directory holds the old weights or the new ones
            both = (*before.checksums[name], new)
            allowing = dataclasses.replace(before, checksums={**before.checksums, name: both})
            write_atomically(self.card_file, allowing.to_json())
        write_atomically(self.weights_file, content)
        checksums = {name: (new,), **{path.name: (_sum(path),) for path in self._vocabulary_files()}}
        write_atomically(self.card_file, dataclasses.replace(card, checksums=checksums).to_json())

    def _old_card(self) -> Card:
        """Return the card that is about to be replaced; an empty one if there is none, or a damaged one."""
        try:
            return self.read_card()
        except DirectoryError:
            return Card(recipe=Recipe())

    def _vocabulary_files(self) -> list[Path]:
        files = (*Subwords.files(self.path), *self._files_beside())
        return [path for path in files if path.is_file()]

    def _files_beside(self) -> list[Path]:
        """Files of single tasks beside the subwords, whether they are there or not."""
        return [self.words_file, self.frequencies_file, self.tags_file, self.labels_file]

    def read_subwords(self, card: Card) -> Subwords:
        """Read the subwords, and compare their checksums with the card's."""
        subwords = Subwords.load(self.path)
        for path, vocabulary in zip(Subwords.files(self.path), (subwords.source, subwords.target), strict=False):
            _compare(card, path, hashlib.sha256(vocabulary.model).hexdigest())
        return subwords

    def read_frequencies(self, card: Card, subwords: Subwords) -> PieceFrequencies | None:
        """Read the frequencies of the source's pieces, and compare their checksum with the card's; None if unknown."""
        path, size = self.frequencies_file, len(subwords.source)
        if path.name not in card.checksums and not os.path.lexists(path):
            return None
        content = read_regular(path, size + 1)
        _compare(card, path, hashlib.sha256(content).hexdigest())
        if len(content) != size:
            raise DirectoryError(f"{path} is damaged: it has {len(content):,} bytes for {size:,} pieces", DAMAGED)
        return PieceFrequencies(content)

    def read_words(self, card: Card | None = None) -> list[str]:
        """Read the vocabulary of a question answering model, and compare its checksum with the card's, if given."""
        return _read_list(self.words_file, "words", card)

    def read_labels(self, card: Card | None = None) -> list[str]:
        """Read the labels of a classifier, and compare their checksum with the card's, if given."""
        return _read_list(self.labels_file, "labels", card)

    def read_tags(self, card: Card | None = None) -> dict[str, str]:
        """Read the words of a parser with their tags, and compare the checksum with the card's, if given."""
        tags = read_json(self.tags_file)
        if not isinstance(tags, dict) or not all(isinstance(tag, str) for tag in tags.values()):
            raise DirectoryError(f"{self.tags_file} is damaged: it does not give words their tags", DAMAGED)
        if card:
            _compare(card, self.tags_file, _sum(self.tags_file))
        return tags

    def read_job(self) -> tuple[Recipe, Job]:
        path = self.job_file
        if not path.is_file():
            begin = f"To begin one, or continue it if it is there:  tongsa train ... --out {self.path} --resume"
            search = self.tune_file.exists()
            raise DirectoryError(f"{self.path} holds no training to resume", _SEARCH_AGAIN if search else begin)
        self._check_recipe_file()
        recipe = Recipe.from_values(read_toml(self.recipe_file), str(self.recipe_file))
        try:
            return recipe, Job.from_values(json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise DirectoryError(f"{path} is damaged: {error}", _WRITE_AGAIN) from error

    def _check_recipe_file(self) -> None:
        if not self.recipe_file.is_file():
            raise DirectoryError(f"{self.recipe_file} is missing", _WRITE_AGAIN)
        try:
            unsealed_text(self.recipe_file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DirectoryError(
                f"{self.recipe_file} is damaged, or was edited: {error}",
                f"To change a setting:  tongsa resume {self.path} --set SECTION.KEY=VALUE",
                _WRITE_AGAIN,
            ) from error

    def write_job(self, recipe: Recipe, job: Job) -> None:
        write_atomically(self.recipe_file, sealed_text(recipe.to_toml()))
        write_atomically(self.job_file, job.to_json())

    def write_checksums(self) -> None:
        """Write the checksums of what was prepared for training: the data, and the vocabulary beside it."""
        beside = [path for path in self._files_beside() if path.is_file()]
        words = [*self.path.glob("subwords*.model"), *beside]
        prepared = [path for path in self.data.rglob("*") if path.is_file() and path != self.checksums_file]
        Checksums.of(self.path, [*words, *prepared]).write(self.checksums_file)

    def check_prepared(self) -> None:
        """Compare what was prepared for training with its checksums; trainings of older versions have none."""
        try:
            checksums = Checksums.read(self.checksums_file)
            problems = checksums.problems(self.path) if checksums else []
        except ValueError as error:
            problems = [str(error)]
        if self.damaged_data.is_dir():
            problems = [f"{self.damaged_data} was being replaced when that was interrupted"]
        if problems:
            raise DirectoryError(
                f"the prepared data of {self.path} is damaged", *problems, f"The checkpoints are safe. {_WRITE_AGAIN}"
            )

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Read the events of the log, or those of one kind; none if there is no log."""
        found = list(read_log(self.log_file)) if self.log_file.is_file() else []
        return [event for event in found if kind is None or event["event"] == kind]

    def remove(self) -> None:
        """Remove a training and its translator; a directory with anything else in it is an error, and stays."""
        if not self.path.is_dir():
            return
        files = [self.card_file, self.weights_file, self.recipe_file, self.job_file, self.log_file, self.report_file]
        files += [self.examples_file, self.domains_file, self.lock_file, *self._files_beside()]
        files += [*Subwords.files(self.path), *(self.tune_file.with_suffix(e) for e in (".json", ".html", ".toml"))]
        folders = [
            self.checkpoints,
            self.path / "tensorboard",
            self.old_engines,
            self.data,
            self.damaged_data,
            self.distilled,
            self.tune_folder,
            self.diversify_folder,
        ]
        others = [path for path in sorted(self.path.iterdir()) if path not in (*files, *folders)]
        if others:
            raise DirectoryError(f"{others[0]} does not belong to a training", f"{self.path} was not removed.")
        shutil.rmtree(self.path)

    def refuse_to_overwrite(self) -> None:
        """Raise an error if there is already a training or a translator."""
        begun = self.checkpoints.is_dir() and any(each.name.isdigit() for each in self.checkpoints.iterdir())
        if begun or (self.job_file.is_file() and self.card_file.exists()):
            raise DirectoryError(
                f"{self.path} already holds a training",
                "Continue it (tongsa resume), or choose another --out: nothing is overwritten.",
            )
        if self.card_file.exists():
            raise DirectoryError(
                f"{self.path} already holds a translator", "Choose another --out: nothing is overwritten."
            )
        if self.tune_file.exists():
            raise DirectoryError(f"{self.path} cannot be trained in", _SEARCH_AGAIN, "Or choose another --out.")


def _read_list(path: Path, what: str, card: Card | None) -> list[str]:
    values = read_json(path)
    if not isinstance(values, list) or not all(isinstance(each, str) for each in values):
        raise DirectoryError(f"{path} is damaged: it is not a list of {what}", DAMAGED)
    if card:
        _compare(card, path, _sum(path))
    return values


def _sum(path: Path) -> str:
    with open_regular(path) as file:
        return checksum(file)


def _compare(card: Card, path: Path, found: str) -> None:
    if found not in card.checksums.get(path.name, (found,)):
        raise wrong_sum(path)


def wrong_sum(path: Path) -> DirectoryError:
    return DirectoryError(f"{path} is not the file that its card describes: its checksum differs", DAMAGED)
