"""All that stands between a text and an engine: the Translator, and what it makes of a text.

    options     what is asked for: search, alignment, confidence, how a text is cut
    sentences   a text cut into sentences, each encoded once, and their translations joined again
    confidence  how far a translation, and each of its words, can be trusted
    repetition  loops at the end of an output
    translator  Translator: texts in, translations out
    stream      lines of a file or pipe, in windows

May import engines and the rooms below.
"""
