"""HTTP without translation: connections, limits, keys, logs, metrics, parameters, answers.

Imports nothing of `work`, `api` or `app`.
"""
