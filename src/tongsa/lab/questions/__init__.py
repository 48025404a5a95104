"""Questions that readers of the paper ask, one file each. torch is imported only when something is measured."""

from __future__ import annotations

from tongsa.lab.question import Question
from tongsa.lab.questions.add_or_concatenate import ADD_OR_CONCATENATE
from tongsa.lab.questions.bottleneck import BOTTLENECK
from tongsa.lab.questions.context import CONTEXT
from tongsa.lab.questions.embedding import EMBEDDING
from tongsa.lab.questions.embedding_scale import EMBEDDING_SCALE
from tongsa.lab.questions.feed_forward import FEED_FORWARD
from tongsa.lab.questions.gradients import GRADIENTS
from tongsa.lab.questions.heads import HEADS
from tongsa.lab.questions.layer_norm import LAYER_NORM
from tongsa.lab.questions.mask import MASK
from tongsa.lab.questions.normalisation import NORMALISATION
from tongsa.lab.questions.parallel import PARALLEL
from tongsa.lab.questions.positions import POSITIONS
from tongsa.lab.questions.projections import PROJECTIONS
from tongsa.lab.questions.residual import RESIDUAL
from tongsa.lab.questions.resolution import RESOLUTION
from tongsa.lab.questions.scale import SCALE
from tongsa.lab.questions.smoothing import SMOOTHING
from tongsa.lab.questions.warm_up import WARM_UP
from tongsa.lab.questions.word_order import WORD_ORDER

QUESTIONS: dict[str, Question] = {
    question.name: question
    for question in (
        SCALE,
        HEADS,
        PROJECTIONS,
        RESOLUTION,
        EMBEDDING,
        EMBEDDING_SCALE,
        WORD_ORDER,
        POSITIONS,
        ADD_OR_CONCATENATE,
        MASK,
        FEED_FORWARD,
        RESIDUAL,
        LAYER_NORM,
        NORMALISATION,
        WARM_UP,
        SMOOTHING,
        BOTTLENECK,
        GRADIENTS,
        PARALLEL,
        CONTEXT,
    )
}
"""In the order of the page: attention, what it reads, the parts of a layer, training, and what came before."""
