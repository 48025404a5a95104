from __future__ import annotations

import torch

import small_stories as town
from tongsa.data.stories import Question
from tongsa.models.memory_network import MemoryNetworkSection
from tongsa.tasks.story_encoding import UNKNOWN, Lexicon, encode, times

QUESTION = Question(1, ("Mina went home.", "Joon ran.", "Mina slept."), "Where is Mina?", "home", (0,))


def test_the_most_recent_sentences_are_kept_and_stand_first() -> None:
    encoded = encode([QUESTION], Lexicon.of([QUESTION]), MemoryNetworkSection(memories=2, encoding="bag"))
    rows = {text: row for row, text in enumerate((*QUESTION.story, QUESTION.text), 1)}
    assert encoded.story.tolist() == [[rows["Mina slept."], rows["Joon ran."]]]
    assert encoded.length.tolist() == [2]


def test_a_batch_holds_only_its_own_sentences_and_nothing_first() -> None:
    questions = town.stories(40, seed=1)
    encoded = encode(questions, Lexicon.of(questions), MemoryNetworkSection(memories=8, encoding="position"))
    batch = encoded.batch(torch.tensor([3, 11]))
    told = {text for row in (3, 11) for text in (*questions[row].story, questions[row].text)}
    assert len(batch.sentences.alpha) == len(told) + 1
    assert not batch.sentences.alpha[0].any()
    assert torch.equal(batch.sentences.alpha[batch.story], encoded.sentences.alpha[encoded.story[[3, 11]]])
    assert torch.equal(batch.sentences.beta[batch.question], encoded.sentences.beta[encoded.question[[3, 11]]])


def test_words_and_answers_that_training_never_saw_are_counted() -> None:
    stranger = Question(1, ("Mina flew home.",), "Where is Mina?", "sky", (0,))
    encoded = encode([stranger], Lexicon.of([QUESTION]), MemoryNetworkSection(memories=2, encoding="bag"))
    assert encoded.unknown_words == 1
    assert encoded.answer.tolist() == [UNKNOWN]


def test_without_noise_times_count_back_from_the_question() -> None:
    assert times(torch.tensor([0, 2, 4]), 4, 0.0, None).tolist() == [[0, 0, 0, 0], [1, 2, 0, 0], [1, 2, 3, 4]]


def test_noise_only_moves_sentences_back_and_by_no_more_than_its_share() -> None:
    length = torch.randint(0, 51, (500,), generator=torch.Generator().manual_seed(1))
    found = times(length, 50, 0.1, torch.Generator().manual_seed(2))
    plain = times(length, 50, 0.0, None)
    most = torch.ceil(length * 0.1)[:, None]
    assert torch.equal(found > 0, plain > 0)
    assert bool((found >= plain).all())
    assert bool((found <= (plain + most).clamp(max=50)).all())
    steps = found.diff(dim=1)[found[:, 1:] > 0]
    assert bool((steps >= 0).all())
    assert bool((found != plain).any())


def test_noise_adds_every_number_of_empty_memories_up_to_its_share_equally_often() -> None:
    found = times(torch.full((4000,), 20), 50, 0.1, torch.Generator().manual_seed(3))
    # With b empty memories among 20 + b places, the last sentence lies on the last place with odds 20 to b.
    last = found.max(dim=1).values
    assert set(last.tolist()) == {20, 21, 22}
    share = torch.bincount(last, minlength=23)[20:] / 4000
    expected = torch.tensor([1 + 1 / 21 + 2 / 22 * 1 / 21, 20 / 21 + 20 / 21 * 2 / 22, 20 / 22]) / 3
    assert torch.allclose(share, expected, atol=0.03)
