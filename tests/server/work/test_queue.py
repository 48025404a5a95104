"""The queue: fair, batched, bounded, and free of charge for who hangs up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

import pytest
from tests.server.running import PATIENCE, in_a_loop

from tongsa.server.http.refusals import Refusal
from tongsa.server.work.queue import Queue, length_class


@dataclass(eq=False)
class Gate:
    """A kind of work that waits until the test lets it through; a piece is a word, its length what its digits say."""

    batches: list[list[str]] = field(default_factory=list)
    open: threading.Event = field(default_factory=threading.Event)

    def tokens(self, piece: str) -> int:
        return int("".join(filter(str.isdigit, piece)) or 1)

    def run(self, pieces: Sequence[str]) -> Sequence[str]:
        self.batches.append(list(pieces))
        self.open.wait(PATIENCE)
        if any("bad" in piece for piece in pieces):
            raise ValueError("bad")
        return [piece.upper() for piece in pieces]


def run(
    test: Callable[[Queue, Gate], Awaitable[None]], *, workers: int = 1, capacity: int = 0, tokens: int = 1024
) -> Gate:
    async def inside() -> None:
        queue = Queue(workers=workers, capacity=capacity, batch_tokens=tokens)
        gate.open.clear()
        try:
            await test(queue, gate)
        finally:
            gate.open.set()
            queue.close()

    gate = Gate()
    in_a_loop(inside())
    return gate


async def begun(gate: Gate, batches: int) -> None:
    while len(gate.batches) < batches:
        await asyncio.sleep(0.001)


def ask(queue: Queue, gate: Gate, *pieces: str) -> asyncio.Task[list[str]]:
    return asyncio.create_task(queue.run(gate, pieces))


def test_results_come_in_the_order_of_the_pieces() -> None:
    async def test(queue: Queue, gate: Gate) -> None:
        gate.open.set()
        assert await queue.run(gate, ["a1", "b300", "c2", "d40"]) == ["A1", "B300", "C2", "D40"]
        assert await queue.run(gate, []) == []

    run(test)


def test_a_request_to_an_idle_service_leaves_at_once_and_alone() -> None:
    async def test(queue: Queue, gate: Gate) -> None:
        first = ask(queue, gate, "a1")
        await begun(gate, 1)
        gate.open.set()
        assert await first == ["A1"]

    assert run(test).batches == [["a1"]]


def test_requests_that_arrive_while_engines_work_share_a_batch() -> None:
    async def test(queue: Queue, gate: Gate) -> None:
        asked = [ask(queue, gate, "a1")]
        await begun(gate, 1)
        asked += [ask(queue, gate, f"{name}1") for name in "bcde"]
        await asyncio.sleep(0)
        gate.open.set()
        await asyncio.gather(*asked)

    assert run(test).batches == [["a1"], ["b1", "c1", "d1", "e1"]]


def test_a_batch_ends_where_its_tokens_are_full() -> None:
    async def test(queue: Queue, gate: Gate) -> None:
        asked = [ask(queue, gate, "a1")]
        await begun(gate, 1)
        asked += [ask(queue, gate, f"{name}30") for name in "bcdefg"]
        await asyncio.sleep(0)
        gate.open.set()
        await asyncio.gather(*asked)

    assert [len(batch) for batch in run(test, tokens=90).batches] == [1, 3, 3]


def test_a_long_text_takes_turns_with_short_ones_that_came_later() -> None:
    async def test(queue: Queue, gate: Gate) -> None:
        asked = [ask(queue, gate, "a1")]
        await begun(gate, 1)
        asked.append(ask(queue, gate, *(f"long{n}x1" for n in "abcdefghij")))
        asked += [ask(queue, gate, f"short{n}1") for n in "xyz"]
        await asyncio.sleep(0)
        gate.open.set()
        await asyncio.gather(*asked)

    second = run(test, tokens=6).batches[1]
    assert {"shortx1", "shorty1", "shortz1"} <= set(second)


def test_short_pieces_do_not_travel_with_long_ones() -> None:
    async def test(queue: Queue, gate: Gate) -> None:
        asked = [ask(queue, gate, "a1")]
        await begun(gate, 1)
        asked += [ask(queue, gate, "b500"), ask(queue, gate, "c5"), ask(queue, gate, "d480"), ask(queue, gate, "e20")]
        await asyncio.sleep(0)
        gate.open.set()
        await asyncio.gather(*asked)

    assert run(test, tokens=10_000).batches == [["a1"], ["b500", "d480"], ["c5", "e20"]]


@pytest.mark.parametrize(("tokens", "same"), [((1, 32), True), ((33, 64), True), ((32, 33), False), ((64, 65), False)])
def test_classes_of_length_double(tokens: tuple[int, int], same: bool) -> None:
    assert (length_class(tokens[0]) == length_class(tokens[1])) is same


def test_who_hangs_up_takes_the_pieces_that_have_not_begun() -> None:
    async def test(queue: Queue, gate: Gate) -> None:
        first = ask(queue, gate, "a1")
        await begun(gate, 1)
        gone = ask(queue, gate, "b1", "c1", "d1")
        stays = ask(queue, gate, "e1")
        await asyncio.sleep(0)
        assert queue.waiting == 4
        gone.cancel()
        await asyncio.wait({gone})
        assert queue.waiting == 1
        gate.open.set()
        assert await first == ["A1"]
        assert await stays == ["E1"]

    assert run(test).batches == [["a1"], ["e1"]]


def test_who_hangs_up_while_the_engine_works_breaks_nothing() -> None:
    async def test(queue: Queue, gate: Gate) -> None:
        gone = ask(queue, gate, "a1")
        await begun(gate, 1)
        gone.cancel()
        await asyncio.wait({gone})
        stays = ask(queue, gate, "b1")
        gate.open.set()
        assert await stays == ["B1"]

    run(test)


def test_a_piece_that_breaks_the_engine_breaks_no_other_request() -> None:
    async def test(queue: Queue, gate: Gate) -> None:
        asked = [ask(queue, gate, "a1")]
        await begun(gate, 1)
        asked += [ask(queue, gate, "b1"), ask(queue, gate, "bad1"), ask(queue, gate, "c1")]
        await asyncio.sleep(0)
        gate.open.set()
        results = await asyncio.gather(*asked, return_exceptions=True)
        assert results[0] == ["A1"]
        assert results[1] == ["B1"]
        assert isinstance(results[2], ValueError)
        assert results[3] == ["C1"]

    run(test)


def test_past_the_limit_requests_are_told_to_come_back() -> None:
    async def test(queue: Queue, gate: Gate) -> None:
        with queue.place(), queue.place():
            with pytest.raises(Refusal) as caught, queue.place():
                pass
            assert caught.value.status == 429
            assert int(caught.value.headers["retry-after"]) >= 1
        with queue.place():
            pass

    run(test, capacity=2)


def test_all_workers_work_at_once() -> None:
    async def test(queue: Queue, gate: Gate) -> None:
        asked = [ask(queue, gate, "a1"), ask(queue, gate, "b1")]
        await begun(gate, 2)
        gate.open.set()
        await asyncio.gather(*asked)

    run(test, workers=2)
