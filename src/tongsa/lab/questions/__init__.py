"""Questions that readers of the paper ask, one file each. torch is imported only when something is measured."""

from __future__ import annotations

from tongsa.lab.question import Question
from tongsa.lab.questions.embedding import EMBEDDING
from tongsa.lab.questions.scale import SCALE
from tongsa.lab.questions.word_order import WORD_ORDER

QUESTIONS: dict[str, Question] = {question.name: question for question in (SCALE, EMBEDDING, WORD_ORDER)}
