"""Small translator directories: random ones, one that knows a few sentences, one that has learnt the grammar."""

from __future__ import annotations

import dataclasses
import shutil
from functools import cache
from pathlib import Path

import torch
from torch import nn

import tongsa
from tongsa.config import Recipe, SubwordsSection, TransformerSection
from tongsa.demo.grammar import corpus
from tongsa.models import build
from tongsa.models.contracts import token_mask
from tongsa.models.weights import named_weights
from tongsa.runs.card import Card
from tongsa.runs.directory import Run
from tongsa.text.subwords import END, Subwords, learn
from tongsa.training.checkpoint import Progress, save_checkpoint
from tongsa.translation.translator import Translator

SMALL = TransformerSection(d_model=32, d_ff=64, heads=4, encoder_layers=2, decoder_layers=2, dropout=0.0)


def sentences(count: int) -> list[tuple[str, str]]:
    """Korean-English pairs of the built-in grammar."""
    pairs, _, _ = corpus(count, 10, 10, seed=3)
    return list(pairs)


@cache
def small_subwords(*, joint: bool = True) -> Subwords:
    section = SubwordsSection(size=700)
    pairs = sentences(300)
    if joint:
        both = learn([text for pair in pairs for text in pair], section, threads=1)
        return Subwords(both, both)
    other = dataclasses.replace(section, size=400)
    return Subwords(
        learn([source for source, _ in pairs], section, threads=1),
        learn([target for _, target in pairs], other, threads=1),
    )


def random_model(config: TransformerSection, subwords: Subwords, seed: int = 0) -> nn.Module:
    """Random weights, and random biases and norms too: a swapped or forgotten one must show."""
    torch.manual_seed(seed)
    model = build(config, len(subwords.source), None if subwords.joint else len(subwords.target)).eval()
    for parameter in model.parameters():
        if parameter.dim() == 1:
            nn.init.normal_(parameter, mean=0.5, std=0.3)
    return model


def save(directory: Path, model: nn.Module, config: TransformerSection, subwords: Subwords) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    subwords.save(directory)
    card = Card(source="ko", target="en", recipe=Recipe(model=config))
    Run(directory).write_translator(card, named_weights(model))
    return directory


def random_translator(
    directory: Path, *, joint: bool = True, seed: int = 0, config: TransformerSection = SMALL
) -> Path:
    subwords = small_subwords(joint=joint)
    return save(directory, random_model(config, subwords, seed), config, subwords)


def learnt_translator(directory: Path) -> Path:
    """One that has seen few sentences, but ends them and prefers some tokens to others, as trained ones do.

    `teach` made it once: a training takes its time, and gives other weights on another machine.
    """
    return Path(shutil.copytree(Path(__file__).parent / "golden" / "learnt-ko-en", directory, dirs_exist_ok=True))


def teach(directory: Path, updates: int = 120, config: TransformerSection = SMALL) -> Path:
    """Train on 64 pairs of the built-in grammar, all of them at every update."""
    subwords = small_subwords()
    torch.manual_seed(1)
    model = build(config, len(subwords.source), None)
    pad = subwords.source.pad
    pairs = [(subwords.source.encode(a), subwords.target.encode(b)) for a, b in sentences(64)]
    source = nn.utils.rnn.pad_sequence([torch.tensor([*a, END]) for a, _ in pairs], True, pad)
    read = nn.utils.rnn.pad_sequence([torch.tensor([pad, *b]) for _, b in pairs], True, pad)
    labels = nn.utils.rnn.pad_sequence([torch.tensor([*b, END]) for _, b in pairs], True, -100)
    mask = token_mask(torch.tensor([len(a) + 1 for a, _ in pairs]), source.shape[1])
    optimizer = torch.optim.Adam(model.parameters(), lr=0.004)
    for _ in range(updates):
        loss = nn.functional.cross_entropy(model(source, mask, read).flatten(0, 1), labels.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return save(directory, model, config, subwords)


GRAMMAR_SETTINGS = {
    "subwords.size": "1500",
    "model.encoder_layers": "1",
    "model.decoder_layers": "1",
    "model.d_model": "96",
    "model.d_ff": "192",
    "model.dropout": "0.0",
    "training.batch_tokens": "1200",
    "training.warmup": "80",
    "training.peak": "0.005",
    "training.processes": "1",
    "training.validate_every": "10000",
}
"""As little training as the grammar takes to be translated, mostly, rightly."""


def grammar_translator(folder: Path, updates: int = 750) -> Path:
    """Train on 8,000 pairs of the built-in grammar."""
    directory = folder / "ko-en"
    train, valid, _ = corpus(8000, 50, 0, seed=1)
    for name, part in (("train", train), ("valid", valid)):
        for side, language in enumerate(("ko", "en")):
            (folder / f"{name}.{language}").write_text("".join(f"{pair[side]}\n" for pair in part), encoding="utf-8")
    made = tongsa.train(
        folder / "train",
        source="ko",
        target="en",
        valid=folder / "valid",
        out=directory,
        recipe="demo",
        settings={**GRAMMAR_SETTINGS, "training.updates": str(updates)},
        threads=1,
        device="cpu",
    )
    assert made is not None
    return directory


def with_checkpoints(directory: Path, copy: Path) -> Path:
    """A copy of a translator with two checkpoints: after 10 updates nothing is learnt, after 200 everything."""
    shutil.copytree(directory, copy)
    weights = named_weights(Translator.load(copy, engine="native").native.model)
    for update, factor in ((10, 0.1), (200, 1.0)):
        changed = {name: weight * factor for name, weight in weights.items()}
        save_checkpoint(copy / "checkpoints", changed, {}, Progress(update=update))
    return copy
