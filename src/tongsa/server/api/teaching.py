"""What can be done to a model on the page that shows its attention: interventions, the beam, numbers, the training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field
from pydantic.json_schema import SkipJsonSchema
from starlette.responses import Response

from tongsa.decoding.search import MAX_DRAWN_BEAM
from tongsa.server.api.own import check_sentences
from tongsa.server.api.pipeline import Call
from tongsa.server.api.schemas import Attend, Error, Keyed, Language, Weights
from tongsa.server.http.answers import JSON, Json
from tongsa.server.http.routes import FORM, MULTIPART, Interface, Needs
from tongsa.server.work.translators import signature_of

if TYPE_CHECKING:
    from tongsa.lab.interventions import Intervention

API = Interface(name="Teaching", error=Error, key_field="api_key", forms=(JSON, FORM, MULTIPART))
MAX_HEADS = 1_024
"""Heads of one request that are switched off."""
HEAD = Field(description="KIND.LAYER.HEAD, counted from 1; kinds are encoder, decoder and cross", max_length=16)


class Intervene(Keyed):
    q: str
    source: Language
    target: Language
    heads_off: list[Annotated[str, HEAD]] = Field(default=[], max_length=MAX_HEADS)
    scale: bool = Field(default=True, description="Divide by the root of d_k")
    positions: Literal["kept", "none", "shuffled"] = "kept"
    cross: bool = Field(default=True, description="Whether the decoder may look at the source")
    instead: str | SkipJsonSchema[None] = Field(default=None, description="Read this sentence in place of q")


class Intervened(BaseModel):
    before: str
    after: str
    log_probability: tuple[float, float]
    """Of the first translation, before and after."""
    tokens: list[tuple[str, float, float]]
    """Those of the first translation, each with its log-probability before and after."""
    changed: dict[str, list[list[float]]]
    """Largest change of a weight of each head of each layer."""


class Numbers(Keyed):
    q: str
    translation: str
    source: Language
    target: Language
    head: Annotated[str, HEAD]


Matrix = list[list[float | None]]
"""null stands for -inf."""


class HeadMatrices(BaseModel):
    target: list[str]
    """The tokens of the translation."""
    q: Matrix
    k: Matrix
    v: Matrix
    scores: Matrix
    scaled: Matrix
    masked: Matrix
    weights: Matrix
    output: Matrix


class Beam(Keyed):
    q: str
    source: Language
    target: Language
    beam: Annotated[int, Field(ge=1, le=MAX_DRAWN_BEAM)] | SkipJsonSchema[None] = None


class BeamNode(BaseModel):
    parent: int
    token: str
    log_probability: float
    fate: Literal["kept", "pruned", "finished"]
    next: list[tuple[str, float]]
    """The likeliest tokens after it, with their probabilities."""


class BeamHypothesis(BaseModel):
    node: int
    text: str
    length: int
    log_probability: float


class BeamSearched(BaseModel):
    beam: int
    alpha: float
    nodes: list[BeamNode]
    hypotheses: list[BeamHypothesis]


class Trained(Attend):
    translation: str
    update: Annotated[int, Field(ge=0)] | SkipJsonSchema[None] = Field(
        default=None, description="Of a checkpoint; none for the translator as it is served"
    )


class AtCheckpoint(BaseModel):
    updates: list[int]
    update: int | None
    translation: str
    log_probability: float
    target: list[str]
    """The tokens of the given translation."""
    encoder: Weights
    decoder: Weights
    cross: Weights


ONE_SENTENCE = Needs(key=True, queue=True, texts=lambda given: [given.q])
TWO_SENTENCES = Needs(
    key=True, queue=True, texts=lambda given: [given.q] if given.instead is None else [given.q, given.instead]
)


@API.route("POST", "/api/interventions", Intervene, Intervened, needs=TWO_SENTENCES, repeated=("heads_off",))
async def interventions(call: Call[Intervene]) -> object:
    """Do something to the model, or to the sentence, and compare the translations."""
    given, service = call.parameters, call.service
    translator = service.direct(given.source, given.target)
    check_sentences(given.q)
    if given.instead is not None:
        check_sentences(given.instead)

    def work() -> Json:
        from tongsa.lab.interventions import effect
        from tongsa.lab.teaching import intervention_values

        return Json(intervention_values(effect(translator, given.q, _intervention(given), given.instead)))

    return await service.translator.in_thread(work)


def _intervention(given: Intervene) -> Intervention:
    from tongsa.lab.interventions import Head, Intervention

    return Intervention(
        heads_off=tuple(dict.fromkeys(map(Head.of, given.heads_off))),
        scale=given.scale,
        positions=given.positions,
        cross=given.cross,
    )


@API.route("POST", "/api/numbers", Numbers, HeadMatrices, needs=ONE_SENTENCE)
async def numbers(call: Call[Numbers]) -> object:
    """The matrices of one head: Q, K, V, scores, scaled, masked, weights, output."""
    given, service = call.parameters, call.service
    translator = service.direct(given.source, given.target)
    check_sentences(given.q, given.translation)

    def work() -> Json:
        from tongsa.lab.interventions import Head
        from tongsa.lab.teaching import number_values

        return Json(number_values(translator, given.q, given.translation, Head.of(given.head)))

    return await service.translator.in_thread(work)


@API.route("POST", "/api/beam", Beam, BeamSearched, needs=ONE_SENTENCE)
async def beam(call: Call[Beam]) -> object:
    """The beam search for a translation, as a tree."""
    given, service = call.parameters, call.service
    translator = service.direct(given.source, given.target)
    check_sentences(given.q)

    def work() -> Json:
        from tongsa.lab.teaching import beam_values

        return Json(beam_values(translator, given.q, given.beam))

    return await service.translator.in_thread(work)


@API.route("POST", "/api/training", Trained, AtCheckpoint, needs=ONE_SENTENCE)
async def training(call: Call[Trained]) -> object:
    """A pair at a checkpoint of the training: the translation of that time, and its attention."""
    given, service = call.parameters, call.service
    translator, run = service.direct(given.source, given.target), service.run_of(given.source, given.target)
    check_sentences(given.q, given.translation)

    def work() -> bytes:
        from tongsa.lab.teaching import training_values

        return bytes(Json(training_values(translator, run, given.q, given.translation, given.update)).body)

    present = tuple(sorted(path.name for path in run.checkpoints.glob("*")))  # a training may be under way
    key = (run.path, signature_of(run.path), present, given.q, given.translation, given.update)
    body = await service.checkpoint_answers.get(key, lambda: service.translator.in_thread(work))
    return Response(body, media_type=JSON)
