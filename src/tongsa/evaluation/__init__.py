"""How good a model is: metrics, significance, calibration. Imports base/ alone; needs no torch."""
