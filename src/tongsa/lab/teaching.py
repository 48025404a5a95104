"""What can be done to a model on the page that shows its attention, as plain values for JSON.

interventions   a translation before and after something is done to the model or to the sentence
numbers         the matrices of one head
beam            the search as a tree
training        the pair at the checkpoints of the run
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tongsa.decoding.search import MAX_DRAWN_BEAM
from tongsa.engines.inspection import END, payload
from tongsa.lab.head_numbers import head_numbers
from tongsa.lab.interventions import PLACES, Baseline, Effect, Head, Intervention, attentions, encoded
from tongsa.lab.over_training import snapshot, updates
from tongsa.models.transformer import Transformer
from tongsa.text.lines import tidy
from tongsa.training.checkpoint import spread

if TYPE_CHECKING:
    from torch import Tensor

    from tongsa.runs.directory import Run
    from tongsa.translation.translator import Translator

Values = dict[str, Any]
SNAPSHOTS = 12
"""Checkpoints in a file."""


def intervention_values(effect: Effect) -> Values:
    """`changed` are the heads of each layer of each kind; a kind is empty if it cannot be compared."""
    changed: dict[str, list[list[float]]] = {place: [] for place in PLACES}
    for head, change in sorted(effect.changed.items()):
        layers = changed[head.place]
        while len(layers) <= head.layer:
            layers.append([])
        layers[head.layer].append(round(change, 4))
    before, after = effect.log_probabilities
    return {
        "before": effect.before,
        "after": effect.after,
        "log_probability": [round(total, 4) for total in effect.log_probability],
        "tokens": [
            [token, round(was, 5), round(now, 5)] for token, was, now in zip(effect.tokens, before, after, strict=True)
        ],
        "changed": changed,
    }


def number_values(translator: Translator, sentence: str, translation: str, head: Head) -> Values:
    """Each matrix as rows, and the tokens of the target; None stands for -inf, which JSON cannot write."""
    source, target = pair_ids(translator, sentence, translation)
    found = head_numbers(translator, source, target, head)
    tokens = [*translator.subwords.target.pieces(target), END]
    return {"target": tokens, **{name: _rows(values) for name, values in vars(found).items()}}


def beam_values(translator: Translator, sentence: str, beam: int | None = None) -> Values:
    """Nodes with their parents, and the finished hypotheses, which are leaves; the page ranks them."""
    search = replace(translator.search, beam=min(beam or translator.search.beam, MAX_DRAWN_BEAM))
    source = encoded(translator, sentence)
    tree = translator.native.beam_tree(source, search)
    pieces = translator.subwords.target.pieces
    end = translator.native.special.end

    def text(token: int) -> str:
        return END if token == end else pieces([token])[0]

    leaves = {tuple(tree.ids(at)[:-1]): at for at, node in enumerate(tree.nodes) if node.fate == "finished"}
    return {
        "beam": search.beam,
        "alpha": search.length_penalty,
        "nodes": [
            {
                "parent": node.parent,
                "token": text(node.token) if node.parent >= 0 else "",
                "log_probability": round(node.log_probability, 5),
                "fate": node.fate,
                "next": [[text(each.token), round(math.exp(each.log_probability), 5)] for each in node.next],
            }
            for node in tree.nodes
        ],
        "hypotheses": [
            {
                "node": leaves[tuple(one.ids)],
                "text": translator.subwords.target.decode(one.ids),
                "length": len(one.ids) + 1,
                "log_probability": round(one.log_probability, 5),
            }
            for one in tree.found
        ],
    }


def training_values(
    translator: Translator, run: Run, sentence: str, translation: str, update: int | None = None
) -> Values:
    """The pair at a checkpoint, or as the published translator has it, and the updates of all checkpoints."""
    source, target = pair_ids(translator, sentence, translation)
    found = snapshot(translator, run, update, source, target)
    weights = payload(found.attention)
    return {
        "updates": updates(run),
        "update": found.update,
        "translation": found.translation,
        "log_probability": round(found.log_probability, 4),
        "target": weights["target"],
        **{place: weights[place] for place in PLACES},
    }


def stored_experiments(translator: Translator, run: Run, sentence: str, translation: str) -> Values:
    """The answers that a file without a server needs: each change alone, the beam, checkpoints of all the training."""
    found: Values = {"beam": beam_values(translator, sentence)}
    if type(translator.native.model) is Transformer:
        baseline = Baseline(translator, sentence)
        found["interventions"] = {
            name: intervention_values(baseline.effect(what)) for name, what in _changes(translator.native.model).items()
        }
    chosen = spread(updates(run), SNAPSHOTS)
    if chosen:
        found["training"] = [
            {**training_values(translator, run, sentence, translation, update), "updates": chosen}
            for update in (None, *chosen)
        ]
    return found


def _changes(model: Transformer) -> dict[str, Intervention]:
    """All that can be done to a model at once, by the name under which the page finds it."""
    heads = [
        Head(place, layer, number)
        for place, layers in attentions(model).items()
        for layer in range(len(layers))
        for number in range(model.config.heads)
    ]
    return {
        **{head.name: Intervention(heads_off=(head,)) for head in heads},
        "scale": Intervention(scale=False),
        "cross": Intervention(cross=False),
        "positions.none": Intervention(positions="none"),
        "positions.shuffled": Intervention(positions="shuffled"),
    }


def pair_ids(translator: Translator, sentence: str, translation: str) -> tuple[list[int], list[int]]:
    return encoded(translator, sentence), translator.subwords.target.encode(tidy(translation))


def _rows(values: Tensor) -> list[list[float | None]]:
    rows: list[list[float]] = values.double().tolist()
    return [[round(value, 4) if math.isfinite(value) else None for value in row] for row in rows]
