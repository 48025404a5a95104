"""comparison.html: one self-contained page."""

from __future__ import annotations

from tongsa.comparison.verdict import Comparison
from tongsa.report.page import document


def page(comparison: Comparison) -> str:
    return document("comparison", "")
