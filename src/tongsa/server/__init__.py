"""The HTTP service: translators behind the interfaces that clients already speak.

    http/   connections, body limits, keys, logs, metrics: HTTP without translation
    work/   the queue that all requests share, its threads, worker processes, translators, glossaries, files
    api/    one file an interface; pipeline.py admits requests, in one order for all routes
    app.py  all interfaces and the page as one application; run.py serves it

    connection ─▶ middleware ─▶ pipeline ─▶ handler ─▶ QueuedTranslator ─▶ queue ─▶ engines
                  size, time     key, rate, size, quota   sentences          fair batches

One thread runs the event loop and holds all state; other threads run engines, decode bodies, and wait for files and
for the worker processes that read documents. The server may import every room but cli; a layer imports only layers
listed above it.
"""
