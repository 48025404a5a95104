"""Translator: a directory in, text in, text out."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, chain
from pathlib import Path
from typing import TYPE_CHECKING

from tongsa.base.devices import choose_device, device_name
from tongsa.base.errors import UsageError
from tongsa.config import TransformerSection
from tongsa.decoding.search import Hypothesis, Search
from tongsa.engines import ENGINES, PRECISIONS, Engine
from tongsa.engines.inspection import POSITIONS, Facts, Inspection
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.text.lines import tidy
from tongsa.text.subwords import Subwords
from tongsa.translation import long_texts
from tongsa.translation.repetition import cut_repetition

if TYPE_CHECKING:
    from tongsa.documents import Help
    from tongsa.documents import Translated as TranslatedDocument
    from tongsa.engines.native import NativeEngine


@dataclass(frozen=True, kw_only=True)
class Translation:
    """A translation and what is known of it."""

    text: str
    score: float = 0.0
    """Log-probability divided by the length penalty: what hypotheses are ranked by."""
    log_probability: float = 0.0
    source_tokens: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    alignment: tuple[tuple[int, int], ...] = ()
    """(source token, target token) for every target token, where it was asked for."""
    notes: tuple[str, ...] = ()
    """`blank`, `copied`, `repetition cut`, `length limit`: where the text is not simply what the model wrote."""
    alternatives: tuple[Translation, ...] = ()
    """The other hypotheses, best first, where more than one was asked for."""
    _inspect: Callable[[], Inspection] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def attention(self) -> Inspection | None:
        """What the model attended to, found when it is first asked for; None for text that it never saw."""
        return self._inspect() if self._inspect else None


class Translator:
    """A trained translator. `Translator.load(directory).translate([...])`"""

    def __init__(
        self, card: Card, subwords: Subwords, engine: Engine, native: Callable[[], NativeEngine] | None = None
    ) -> None:
        """`native` makes the reference engine when it is first needed; None where `engine` is it."""
        self.card = card
        self.subwords = subwords
        self.engine = engine
        self._make_native = native
        self.search = Search.of(card.recipe.decoding)
        self.made_with = engine.name
        """The engine, and what of its settings can change a translation."""

    @classmethod
    def load(
        cls,
        directory: str | Path,
        *,
        engine: str = "auto",
        precision: str = "auto",
        threads: int | None = None,
        device: str = "auto",
        shortlist: bool = False,
    ) -> Translator:
        """Open a translator directory.

        engine     ctranslate2, native, or auto: CTranslate2 for the Transformer on a CPU, native for all else
        precision  int8, float32, or auto: int8 with CTranslate2 on a CPU
        threads    cores to use; for PyTorch this is `torch.set_num_threads`, which counts for the whole process
        device     cpu, cuda, or auto: a GPU where there is one
        shortlist  with CTranslate2: score only those pieces that the source's can become, as the training text shows

        With CTranslate2 torch, which takes longer to import than a page to translate, is imported only where it is
        needed after all: to compile an engine, to look at attention, for sentences beyond the compiled positions.
        """
        path = Path(directory)
        card = Run(path).read_card()
        subwords = Subwords.load(path)
        place = device_name(device)
        kind = place.partition(":")[0]  # cuda:1 is a cuda
        chosen = choose_engine(engine, precision, card, kind)
        if shortlist and chosen == "native":
            raise UsageError("a shortlist goes with CTranslate2", "Leave it out, or use  --engine ctranslate2")

        def native() -> NativeEngine:
            import torch

            from tongsa.engines.native import NativeEngine

            if threads:
                torch.set_num_threads(threads)
            return NativeEngine.load(path, card, subwords, choose_device(place))

        if chosen == "native":
            return cls(card, subwords, native())
        from tongsa.engines.ctranslate2 import CTranslate2Engine

        made = cached(native)
        fast = CTranslate2Engine.load(
            path,
            card,
            subwords,
            precision=precision,
            threads=threads,
            device=kind,
            native=made,
            shortlist=shortlist,
        )
        translator = cls(card, subwords, fast, made)
        translator.made_with = f"ctranslate2 {fast.precision}{' with a shortlist' if shortlist else ''}"
        return translator

    @cached_property
    def native(self) -> NativeEngine:
        """The reference engine: attention weights come from it."""
        if self._make_native is not None:
            return self._make_native()
        from tongsa.engines.native import NativeEngine

        assert isinstance(self.engine, NativeEngine), "a translator has a native engine, or knows how to make one"
        return self.engine

    def translate(
        self, texts: Sequence[str], search: Search | None = None, *, alignment: bool = False, tokens: bool = True
    ) -> list[Translation]:
        """One translation for each text, in order; a blank text gives a blank one.

        A text longer than any that the model has learnt from is translated sentence by sentence.
        Without `tokens` a translation is its text, score and notes alone: less to make, and less to keep.
        """
        if isinstance(texts, str):
            raise UsageError("translate takes a list of texts, not one text", 'For one:  translate(["..."])[0]')
        search = replace(search or self.search, alignment=alignment)
        tidied = [tidy(text) for text in texts]
        encoded = self.subwords.source.encode_many(tidied, threads=1)
        longest = self.card.recipe.corpus.max_tokens
        beyond = [i for i, ids in enumerate(encoded) if len(ids) > longest]
        cuts = {i: long_texts.cut(tidied[i], self.card.source, self.card.target) for i in beyond} if beyond else {}
        if not any(len(parts) > 1 for parts in cuts.values()):
            return self._translate(texts, encoded, search, tokens=tokens)
        parts = [[part for part, _ in cuts[i]] if i in cuts else [text] for i, text in enumerate(texts)]
        flat = [tidy(part) for group in parts for part in group]
        ids = self.subwords.source.encode_many(flat, threads=1)
        found = iter(self._translate(flat, ids, search, tokens=tokens))
        made = [[next(found) for _ in group] for group in parts]
        return [
            joined(group, [between for _, between in cuts[i]]) if len(group) > 1 else group[0]
            for i, group in enumerate(made)
        ]

    def _translate(
        self, texts: Sequence[str], encoded: list[list[int]], search: Search, *, tokens: bool
    ) -> list[Translation]:
        known = [i for i, ids in enumerate(encoded) if ids and not self.subwords.source.is_foreign(ids)]
        sources = [encoded[i] for i in known]
        found = self.engine.translate(sources, search)
        make = self._with_tokens if tokens or search.alignment else self._plain
        made = dict(zip(known, make(sources, found), strict=True))
        return [made[i] if i in made else _as_it_is(text) for i, text in enumerate(texts)]

    def translate_document(
        self,
        source: str | Path,
        target: str | Path | None = None,
        *,
        help: Help | None = None,
        encoding: str | None = None,
        columns: Sequence[str] = (),
    ) -> TranslatedDocument:
        """Translate a file with structure into a new one beside it (`manual.de.docx`), or into `target`."""
        from tongsa.documents import translate_document  # only who translates documents needs lxml

        return translate_document(
            self, Path(source), Path(target) if target else None, help=help, encoding=encoding, columns=tuple(columns)
        )

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[list[float]]:
        """The log-probability of each target's tokens and end, given its source."""
        return self.engine.score(
            [self.subwords.source.encode(tidy(text)) for text in sources],
            [self.subwords.target.encode(tidy(text)) for text in targets],
        )

    def inspect(self, source: str, target: str | None = None) -> Inspection:
        """Attention weights for a pair; without a target, for the translation found."""
        source_ids = self.subwords.source.encode(tidy(source))
        if not source_ids:
            raise UsageError("there is no text to look at")
        if target is None:
            target_ids = self.engine.translate([source_ids], self.search)[0][0].ids
        else:
            target_ids = self.subwords.target.encode(tidy(target))
        return self._inspection(source_ids, target_ids)

    def _inspection(self, source: Sequence[int], target: Sequence[int]) -> Inspection:
        model, section = self.native.model, self.card.recipe.model
        longest = model.max_length
        if longest is not None and len(source) >= longest:
            raise UsageError(
                f"the source has {len(source):,} subwords; this model was trained with {longest:,} positions",
                "Look at a sentence of it.",
            )
        d_k = section.key_width if isinstance(section, TransformerSection) else 0
        table = model.position_table(POSITIONS if longest is None else min(longest, POSITIONS))
        return Inspection(
            source_tokens=(*self.subwords.source.pieces(list(source)), "</s>"),
            target_tokens=(*self.subwords.target.pieces(list(target)), "</s>"),
            attention=self.native.attention(source, target),
            facts=Facts(
                architecture=section.architecture,
                source=self.card.source,
                target=self.card.target,
                d_model=section.d_model,
                d_k=d_k,
                positions="" if table is None else "sinusoidal" if longest is None else "learned",
            ),
            positions=table,
        )

    def _plain(self, sources: Sequence[list[int]], found: Sequence[list[Hypothesis]]) -> list[Translation]:
        """Translations without tokens; texts are made in one call, which is what their number makes worth while."""
        written = [
            cut_repetition(one.ids, source) for source, group in zip(sources, found, strict=True) for one in group
        ]
        texts = iter(self.subwords.target.decode_many([ids for ids, _ in written]))
        repeated = iter([cut for _, cut in written])
        made = []
        for group in found:
            best, *others = (
                Translation(
                    text=next(texts),
                    score=one.score,
                    log_probability=one.log_probability,
                    notes=_notes(next(repeated), one),
                )
                for one in group
            )
            made.append(replace(best, alternatives=tuple(others)) if others else best)
        return made

    def _with_tokens(self, sources: Sequence[list[int]], found: Sequence[list[Hypothesis]]) -> list[Translation]:
        made = []
        for source, group in zip(sources, found, strict=True):
            best, *others = [self._one(source, hypothesis) for hypothesis in group]
            made.append(replace(best, alternatives=tuple(others)))
        return made

    def _one(self, source: list[int], hypothesis: Hypothesis) -> Translation:
        ids, repeated = cut_repetition(hypothesis.ids, source)
        return Translation(
            text=self.subwords.target.decode(ids),
            score=hypothesis.score,
            log_probability=hypothesis.log_probability,
            source_tokens=tuple(self.subwords.source.pieces(source)),
            tokens=tuple(self.subwords.target.pieces(ids)),
            alignment=tuple((s, t) for t, s in enumerate(hypothesis.alignment[: len(ids)])),
            notes=_notes(repeated, hypothesis),
            _inspect=lambda: self._inspection(source, ids),
        )


def _notes(repeated: bool, hypothesis: Hypothesis) -> tuple[str, ...]:
    if hypothesis.ended and not repeated and not hypothesis.note:
        return ()
    notes = ("repetition cut" if repeated else "", "" if hypothesis.ended else "length limit", hypothesis.note)
    return tuple(note for note in notes if note)


def joined(parts: Sequence[Translation], gaps: list[str]) -> Translation:
    """The translation of a text from those of its sentences; its score is their mean."""
    sources = [0, *accumulate(len(part.source_tokens) for part in parts)]
    targets = [0, *accumulate(len(part.tokens) for part in parts)]
    others = zip(*(part.alternatives for part in parts), strict=False)
    return Translation(
        text=long_texts.together([part.text for part in parts], gaps),
        score=sum(part.score for part in parts) / len(parts),
        log_probability=sum(part.log_probability for part in parts),
        source_tokens=tuple(chain.from_iterable(part.source_tokens for part in parts)),
        tokens=tuple(chain.from_iterable(part.tokens for part in parts)),
        alignment=tuple(
            (source + sources[i], target + targets[i])
            for i, part in enumerate(parts)
            for source, target in part.alignment
        ),
        notes=(long_texts.NOTE, *dict.fromkeys(note for part in parts for note in part.notes)),
        alternatives=tuple(joined(group, gaps) for group in others),
    )


def _as_it_is(text: str) -> Translation:
    """Nothing to translate: what is blank stays blank, what cannot be read is copied rather than invented."""
    return Translation(text=text, notes=("copied",)) if text.strip() else Translation(text="", notes=("blank",))


def cached(make: Callable[[], NativeEngine]) -> Callable[[], NativeEngine]:
    """Make it on the first call, and give the same one ever after."""
    made: list[NativeEngine] = []
    lock = threading.Lock()

    def once() -> NativeEngine:
        with lock:
            if not made:
                made.append(make())
        return made[0]

    return once


def choose_engine(engine: str, precision: str, card: Card, device: str) -> str:
    """The name of the engine to load; what cannot be is told."""
    if engine not in ENGINES:
        raise UsageError(f"{engine} is no engine", f"Engines: {', '.join(ENGINES)}")
    if precision not in PRECISIONS:
        raise UsageError(f"{precision} is no precision", f"Precisions: {', '.join(PRECISIONS)}")
    installed = importlib.util.find_spec("ctranslate2") is not None
    if engine == "auto":
        fits = installed and device == "cpu" and isinstance(card.recipe.model, TransformerSection)
        engine = "ctranslate2" if fits else "native"
    if engine == "native" and precision == "int8":
        raise UsageError("the native engine computes in float32", "int8 goes with  --engine ctranslate2")
    if engine == "ctranslate2" and not installed:
        raise UsageError("ctranslate2 is not installed", "Install it with:  pip install ctranslate2")
    return engine
