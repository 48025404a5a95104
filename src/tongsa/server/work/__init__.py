"""What the server does for a request: the queue that all requests share, its threads, and the translators behind it.

Imports `http` for limits, refusals and logs; nothing of `api` or `app`.
"""
