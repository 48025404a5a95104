"""Tongsa: parallel text in, a private translator out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tongsa.base.errors import torch_needed

__version__ = "0.2.0"
__all__ = [
    "Classifier",
    "LanguageModel",
    "MaskedLanguageModel",
    "QuestionAnswerer",
    "TranslateOptions",
    "Translation",
    "Translator",
    "__version__",
    "attention_html",
    "load",
    "resume",
    "train",
    "translate_document",
]

if TYPE_CHECKING:
    from tongsa.documents import translate_document
    from tongsa.pages.attention import frame as attention_html
    from tongsa.tasks.classifier import Classifier
    from tongsa.tasks.language_model import LanguageModel
    from tongsa.tasks.masked_language_model import MaskedLanguageModel
    from tongsa.tasks.question_answering import QuestionAnswerer
    from tongsa.training.run import resume, train
    from tongsa.translation.options import TranslateOptions
    from tongsa.translation.translator import Translation, Translator

    load = Translator.load


def __getattr__(name: str) -> Any:
    """Import a name when it is first needed: `tongsa --help` answers without torch."""
    if name in ("Translator", "Translation", "TranslateOptions"):
        from tongsa.translation import translator

        return getattr(translator, name)
    if name == "load":
        from tongsa.translation.translator import Translator

        return Translator.load
    if name == "translate_document":
        from tongsa.documents import translate_document

        return translate_document
    if name in ("train", "resume"):
        with torch_needed(f"tongsa.{name}"):
            from tongsa.training import run

        return getattr(run, name)
    if name in ("Classifier", "LanguageModel", "MaskedLanguageModel", "QuestionAnswerer"):
        with torch_needed(f"tongsa.{name}"):
            from tongsa.tasks import classifier, language_model, masked_language_model, question_answering

        modules = (classifier, language_model, masked_language_model, question_answering)
        return next(getattr(module, name) for module in modules if name in vars(module))
    if name == "attention_html":
        from tongsa.pages.attention import frame

        return frame
    raise AttributeError(f"module 'tongsa' has no attribute {name!r}")
