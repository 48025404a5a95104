from __future__ import annotations

from pathlib import Path

import pytest
import torch

import small_stories as town
from tongsa.lab.babi.encoding import Encoded, Lexicon, encode
from tongsa.lab.babi.stories import read_tasks
from tongsa.lab.babi.training import Epoch, Plan, measure, rows_by_task, train
from tongsa.models.memory_network import MemoryNetwork, MemoryNetworkShape


def learn(encoded: Encoded, words: int, plan: Plan, seed: int = 1) -> tuple[MemoryNetwork, list[Epoch]]:
    torch.manual_seed(seed)
    network = MemoryNetwork(MemoryNetworkShape(words=words, d=20, hops=2, memories=10))
    return network, list(train(network, encoded, plan, seed))


def test_it_learns_where_people_are_from_questions_alone() -> None:
    """Chance is 75% wrong; the place that was named last, whoever went there, is still wrong for most questions."""
    questions = town.stories(800, seed=1)
    lexicon = Lexicon.of(questions)
    plan = Plan(epochs=40, anneal_every=10, linear_epochs=10)
    network, epochs = learn(encode(questions, lexicon, 10, "position"), len(lexicon), plan)
    fresh = encode(town.stories(300, seed=2), lexicon, 10, "position")
    assert measure(network, fresh, torch.arange(300))[1] < 0.1
    assert epochs[0].linear
    assert not epochs[-1].linear
    assert epochs[-1].train_loss < epochs[0].train_loss


def test_the_same_seed_gives_the_same_weights() -> None:
    questions = town.stories(60, seed=3)
    lexicon = Lexicon.of(questions)
    encoded = encode(questions, lexicon, 10, "position")
    plan = Plan(epochs=2, linear_epochs=1)
    one, again, other = (learn(encoded, len(lexicon), plan, seed)[0] for seed in (1, 1, 2))
    assert torch.equal(one.embeddings, again.embeddings)
    assert not torch.equal(one.embeddings, other.embeddings)


def test_the_linear_start_ends_when_the_held_out_loss_no_longer_falls() -> None:
    questions = town.stories(80, seed=4)
    lexicon = Lexicon.of(questions)
    plan = Plan(epochs=1, linear_epochs=40, linear_patience=1, linear_rate=0.05)
    epochs = learn(encode(questions, lexicon, 10, "position"), len(lexicon), plan)[1]
    linear = [epoch.valid_loss for epoch in epochs if epoch.linear]
    assert len(linear) < 40
    assert linear[-1] >= min(linear[:-1])
    assert linear[:-1] == sorted(linear[:-1], reverse=True)


def test_every_task_holds_out_its_share() -> None:
    questions = town.stories(40, seed=1, task=1) + town.stories(20, seed=2, task=2)
    encoded = encode(questions, Lexicon.of(questions), 10, "position")
    kept, held = rows_by_task(encoded, 0.1, torch.Generator().manual_seed(1))
    assert sorted(kept.tolist() + held.tolist()) == list(range(60))
    assert encoded.task[held].tolist() == [1, 1, 1, 1, 2, 2]


def test_an_answer_that_training_never_saw_counts_as_wrong() -> None:
    questions = town.stories(30, seed=5)
    lexicon = Lexicon([word for word in Lexicon.of(questions).words if word not in town.PLACES])
    encoded = encode(questions, lexicon, 10, "position")
    network = MemoryNetwork(MemoryNetworkShape(words=len(lexicon), d=4, hops=1, memories=10))
    assert measure(network, encoded, torch.arange(30))[1] == 1.0


@pytest.mark.slow
def test_it_learns_a_real_task(shared_data: Path) -> None:
    """Task 1 alone, for a fraction of the epochs: where somebody is, one of six places."""
    if not (shared_data / "babi-en").is_dir():
        pytest.skip("needs ../shared/data/babi-en")
    (task,) = read_tasks(shared_data / "babi-en", {1})
    lexicon = Lexicon.of(task.train)
    torch.manual_seed(1)
    network = MemoryNetwork(MemoryNetworkShape(words=len(lexicon), d=20, hops=3, memories=50))
    plan = Plan(epochs=24, anneal_every=8, linear_epochs=5)
    list(train(network, encode(task.train, lexicon, 50, "position"), plan, seed=1))
    fresh = encode(task.test, lexicon, 50, "position")
    assert measure(network, fresh, torch.arange(len(fresh)))[1] < 0.1
