"""The parts of the built-in Korean-English corpus, from letters to sentences.

english   articles, plurals, verb groups
lexicon   the words
times     the words for times
phrases   who, what, when, where
clauses   tense, mode, negation
simple    sentences of one clause
joined    relative clauses and clauses joined by -고, -지만, -아서, -(으)면
animals   a smaller grammar for experiments
"""
