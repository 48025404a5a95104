"""The HTML page of a run: curves, scores, examples, attention."""

from tongsa.pages.report import write_report

__all__ = ["write_report"]
