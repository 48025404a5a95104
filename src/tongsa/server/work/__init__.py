"""The work behind a request: the queue that all requests share, its threads, and the translators.

Imports `http` for limits, refusals and logs; nothing of `api` or `app`.
"""
