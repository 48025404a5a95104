"""Answers to the experiments of the page, such as a test can foresee."""

from __future__ import annotations

from typing import Any

HEADS, LAYERS, UPDATES = 4, 3, [10, 200]
KINDS = ("encoder", "decoder", "cross")
NODES: list[tuple[int, str, float, str]] = [
    (-1, "", 0.0, "kept"),
    (0, "▁der", -0.2, "kept"),
    (0, "▁ein", -1.6, "kept"),
    (0, "▁das", -3.0, "pruned"),
    (1, "▁Hund", -0.5, "kept"),
    (2, "▁Hund", -1.8, "kept"),
    (4, "</s>", -1.0, "finished"),
    (4, "▁schläft", -1.1, "kept"),
    (7, "</s>", -1.2, "finished"),
]
"""Parent, token, log-probability and fate: without a penalty the shorter translation is better, with one the longer."""


def intervened(body: dict[str, Any]) -> dict[str, Any]:
    """Each change costs one; the heads that are switched off are those that change, by a half."""
    off = body["heads_off"]
    changes = len(off) + (not body["scale"]) + (not body["cross"]) + (body["positions"] != "kept") + ("instead" in body)
    after = "ein Hund schläft" if changes else "der Hund schläft"
    changed = {
        kind: [
            [0.5 if f"{kind}.{layer}.{head}" in off else 0.0 for head in range(1, HEADS + 1)]
            for layer in range(1, LAYERS + 1)
        ]
        for kind in KINDS
    }
    if "instead" in body:
        changed["encoder"] = changed["cross"] = []
    tokens = [["▁der", -0.1, -0.1 - changes], ["▁Hund", -0.2, -0.2], ["▁schläft", -0.1, -0.1], ["</s>", 0.0, 0.0]]
    return {
        "before": "der Hund schläft",
        "after": after,
        "log_probability": [-0.4, -0.4 - changes],
        "tokens": tokens,
        "changed": changed,
    }


def searched(body: dict[str, Any]) -> dict[str, Any]:
    likely = [[f"▁t{n}", round(0.5 / 2**n, 4)] for n in range(10)]
    return {
        "beam": body.get("beam", 2),
        "alpha": 0.0,
        "nodes": [
            {"parent": parent, "token": token, "log_probability": log_p, "fate": fate, "next": likely}
            for parent, token, log_p, fate in NODES
        ],
        "hypotheses": [
            {"node": 6, "text": "der Hund", "length": 3, "log_probability": -1.0},
            {"node": 8, "text": "der Hund schläft", "length": 4, "log_probability": -1.2},
        ],
    }


def trained(body: dict[str, Any], attention: dict[str, Any]) -> dict[str, Any]:
    """At update n the model writes n."""
    update = body.get("update")
    return {
        "updates": UPDATES,
        "update": update,
        "translation": "der Hund schläft" if update is None else f"Hund {update}",
        "log_probability": -0.4 if update is None else -1000.0 / update,
        "target": attention["target"],
        **{kind: attention[kind] for kind in KINDS},
    }


def numbers(body: dict[str, Any], attention: dict[str, Any]) -> dict[str, Any]:
    kind = body["head"].split(".")[0]
    count = len(attention["source"])
    wide = [[q + d / 10 for d in range(4)] for q in range(count)]
    scores = [[float(q - k) for k in range(count)] for q in range(count)]
    masked = [
        [None if kind == "decoder" and k > q else value / 2 for k, value in enumerate(row)]
        for q, row in enumerate(scores)
    ]
    weights = [[0.0 if kind == "decoder" and k > q else 0.25 for k in range(count)] for q in range(count)]
    halved = [[value / 2 for value in row] for row in scores]
    return {
        "target": attention["target"],
        "q": wide,
        "k": wide,
        "v": wide,
        "scores": scores,
        "scaled": halved,
        "masked": masked,
        "weights": weights,
        "output": wide,
    }
