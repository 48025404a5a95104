"""What a model attends to, as pictures: one page for the server, files and notebooks; a grid; a terminal."""

from tongsa.attention.inspection import POSITIONS, Facts, Inspection, Kind, payload, shown

__all__ = ["POSITIONS", "Facts", "Inspection", "Kind", "payload", "shown"]
