"""Training tasks by name. Another package can add a task with an entry point of the group `tongsa.tasks`.

May import everything below training/: a task prepares data, builds models, validates, and publishes the result.
"""

from __future__ import annotations

from typing import Any

from tongsa.base.registry import Registry
from tongsa.tasks.classification import Classification
from tongsa.tasks.contract import Task
from tongsa.tasks.language_modelling import LanguageModelling
from tongsa.tasks.masked_language_modelling import MaskedLanguageModelling
from tongsa.tasks.parsing import Parsing
from tongsa.tasks.question_answering import QuestionAnswering
from tongsa.tasks.translation import Translation

TASKS: Registry[Task[Any]] = Registry(
    "tongsa.tasks",
    {
        "translation": Translation(),
        "lm": LanguageModelling(),
        "mlm": MaskedLanguageModelling(),
        "classify": Classification(),
        "qa": QuestionAnswering(),
        "parsing": Parsing(),
    },
    kind="task",
)
