"""Evaluation: metrics, significance, calibration. Imports only base; needs no torch."""
