"""The top of the page: which languages, which model in words, how long, how good."""

from __future__ import annotations

import math

from tongsa.config import Recipe, TransformerSection
from tongsa.evaluation.contracts import Metric
from tongsa.evaluation.metrics import named
from tongsa.pages.markup import count, duration, escape, missing
from tongsa.pages.run import Run
from tongsa.runs.card import Score

LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian",
    "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "is": "Icelandic",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "ms": "Malay",
    "nb": "Norwegian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil",
    "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def language(code: str) -> str:
    return LANGUAGES.get(code, code)


def in_words(recipe: Recipe) -> str:
    """The model as one would tell a colleague."""
    model, subwords = recipe.model, recipe.subwords
    shared = f"{subwords.size:,} {'shared ' if subwords.joint else ''}"
    vocabulary = {
        "bpe": f"{shared}BPE subwords",
        "unigram": f"{shared}unigram subwords",
        "char": "characters for subwords",
        "byte": "bytes for subwords",
    }[subwords.kind]
    if not isinstance(model, TransformerSection):
        return f"A model of the architecture {model.architecture} with d_model {model.d_model} and {vocabulary}"
    base = TransformerSection(d_model=model.d_model, heads=model.heads)
    twists = [
        words
        for deviates, words in (
            (model.norm != base.norm, "LayerNorm before each sublayer"),
            (model.activation != base.activation, model.activation.upper()),
            (model.positions != base.positions, "learned positions"),
            (not model.tied, "untied embeddings"),
        )
        if deviates
    ]
    return (
        f"A Transformer of {model.encoder_layers} encoder and {model.decoder_layers} decoder layers, "
        f"d_model {model.d_model}, d_ff {model.d_ff}, {model.heads} heads, {vocabulary}"
        + (f"; {', '.join(twists)}" if twists else "")
    )


def headline(run: Run, parameters: int) -> str:
    card = run.card
    tiles = [_score(metric, card.scores[metric.name]) for metric in named(card.scores)]
    title = f"{escape(language(card.source))} <i>→</i> {escape(language(card.target))}"
    return (
        '<header><div class="seal" lang="ko" title="통사, the interpreters of the Joseon court">'
        "<span>통</span><span>사</span></div><div>"
        f'<p class="over">translator <b>{escape(run.name)}</b></p><h1>{title}</h1>'
        f'<p class="model">{escape(in_words(card.recipe))}.</p></div></header><section id="scores">'
        + (f'<div class="tiles big">{"".join(tiles)}</div>' if tiles else missing("No scores are recorded yet."))
        + f'<div class="tiles">{"".join(_facts(run, parameters))}</div>{_weights(run)}</section>'
    )


def _score(metric: Metric, found: Score) -> str:
    value = metric.format(found.score) if math.isfinite(found.score) else "–"
    return (
        f'<div class="tile"><b>{value}</b><span>{escape(metric.title)}</span>'
        f"<small>{escape(metric.meaning)}</small><code>{escape(found.signature or 'no signature')}</code></div>"
    )


def _facts(run: Run, parameters: int) -> list[str]:
    training = run.card.training
    seconds, tokens = run.seconds, run.target_tokens
    facts = [
        ("parameters", count(parameters)),
        ("sentence pairs", count(training.examples) if training.examples else None),
        ("training", None if seconds is None else duration(seconds)),
        ("updates", count(training.updates) if training.updates else None),
        ("epochs", _epochs(training.epochs) if training.updates and training.examples else None),
        ("target tokens", None if tokens is None else count(tokens)),
        ("target tokens a second", f"{tokens / seconds:,.0f}" if tokens and seconds else None),
    ]
    return [
        f'<div class="tile"><b>{escape(value if value is not None else "–")}</b><span>{name}</span></div>'
        for name, value in facts
    ]


def _epochs(finished: float) -> str:
    return "less than 1" if finished == 0 else f"{finished:,.0f}"


def _weights(run: Run) -> str:
    scored = f" on {len(run.examples):,} validation sentences" if run.examples else ""
    decoding = run.card.recipe.decoding
    how = f"beam {decoding.beam}, length penalty {decoding.length_penalty:g}"
    if not run.card.training.weights:
        return f'<p class="note">Scored{scored}.</p>'
    return f'<p class="note">Weights: {escape(run.card.training.weights)}. Scored{scored} with {how}.</p>'
