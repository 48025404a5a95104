"""`tongsa score`"""

from __future__ import annotations

from itertools import islice

from tongsa.cli.options import Corpora, Directory, Encoding, EngineOptions, Salvage, grouped

BLOCK = 1024


@grouped
def score(
    directory: Directory,
    corpus: Corpora,
    encoding: Encoding = "utf-8",
    salvage: Salvage = False,
    *,
    engine: EngineOptions,
) -> None:
    """Print the log-probability of each target given its source: the sum, a tab, the mean over its tokens.

    Example:  tongsa score runs/en-de data/test
    """
    from tongsa.base.progress import for_this_stream
    from tongsa.formats.pairs import Reading, open_corpus

    translator = engine.load(directory)
    languages = Reading(
        source=translator.card.source, target=translator.card.target, encoding=encoding, salvage=salvage
    )
    opened = open_corpus(corpus, languages)
    pairs = iter(opened)
    while block := list(islice(pairs, BLOCK)):
        for tokens in translator.score([pair.source for pair in block], [pair.target for pair in block]):
            print(f"{sum(tokens):.4f}\t{sum(tokens) / len(tokens):.4f}")
    for line in opened.left_out.lines():
        for_this_stream().say(line)
