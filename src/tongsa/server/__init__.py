"""The HTTP service: translators behind the interfaces that people's programs already speak.

    connection ─ protocol ─▶ edge ─▶ app ─ libretranslate, deepl, own ─▶ interpreter ─▶ queue ─▶ engines
      slow ones are let go     sizes, times, headers, logs      texts in sentences      fair batches

One thread runs the event loop and holds all state; threads beside it do nothing but run engines and read documents.
"""
