"""The HTML page of a run: curves, scores, examples, attention."""

from tongsa.report.page import write_report

__all__ = ["write_report"]
