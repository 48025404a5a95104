"""From text to an engine and back: the Translator.

    options     options: search, alignment, confidence, splitting
    sentences   a text cut into sentences, each encoded once, and their translations joined again
    readable    sentences as a model can read them: capitals, unknown symbols
    alignment   which characters of a translation belong to which of its source
    glossary    terms that a translation must use, and terms that stay untranslated
    confidence  confidence of a translation and of its words
    repetition  loops at the end of an output
    translator  Translator: texts in, translations out
    stream      lines of a file or pipe, in windows

May import engines and the rooms below.
"""
