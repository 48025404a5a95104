"""The context vector drawn step by step, with buttons and keys for the steps."""

from __future__ import annotations

from collections.abc import Sequence

from tongsa.lab.question import Words, words_in
from tongsa.lab.walk_through.context import Context, Squeezed, Summed
from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import escape, scrollable

WIDTH, POSITIONS = 6, 12
"""Numbers of a vector, and steps of the translation, that are shown."""


def draw_context(context: Context, model: str, language: str) -> str:
    """A page of its own, for models that have no walk-through."""
    words = words_in(language)
    title = words("The context vector, step by step", "문맥 벡터가 만들어지는 과정")
    source, target = (_text(pieces) for pieces in (context.source[:-1], context.target[1:]))
    return page(
        f"{title}: {source}",
        heading=heading(escape(title), over=f"{escape(source)} → {escape(target)}", text=escape(model)),
        sections=[context_section(context, words)],
        footer=words("Written by Tongsa.", "통사가 작성함."),
        language=language,
    )


def _text(pieces: Sequence[str]) -> str:
    return "".join(pieces).replace("▁", " ").strip()


def context_section(context: Context, words: Words) -> Section:
    summed = isinstance(context, Summed)
    title = (
        words("The context vector, term by term", "문맥 벡터를 한 항씩 더하기")
        if summed
        else words("One vector for the whole sentence", "문장 전체를 담는 벡터 하나")
    )
    content = _summed(context, words) if isinstance(context, Summed) else _squeezed(context, words)
    return Section(key="context", title=title, note="Σ α v" if summed else "", content=content)


def _summed(context: Summed, words: Words) -> str:
    """For each step of the translation a table whose rows, and the sum below them, appear one after the other."""
    count, terms = min(POSITIONS, len(context.target)), len(context.source)
    partial = context.partial()[:, :, :WIDTH]
    most = max(float(partial[:count].abs().max()), 1e-9)
    frames = []
    for step in range(count):
        first = step * terms + 1
        rows = ""
        for term, piece in enumerate(context.source):
            weight = float(context.weights[step, term])
            product = (weight * context.values[term, :WIDTH]).tolist()
            rows += f'<tr data-from="{first + term}">{_named(piece, weight)}{_cells(product, most)}</tr>'
        for term in range(terms):
            said = words(f"sum of {term + 1}", f"{term + 1}개의 합")
            rows += (
                f'<tr class="sum" data-from="{first + term}" data-to="{first + term}"><th scope="row">{said}</th>'
                f"<td></td>{_cells(partial[step, term].tolist(), most)}</tr>"
            )
        caption = words("Context after", "다음 토큰까지 쓴 뒤의 문맥:")
        frames.append(
            f'<div data-from="{first}" data-to="{first + terms - 1}"><h3>{step + 1}. {caption} '
            f"“{escape(context.target[step])}”</h3>"
            f"{_table(words('weight α', '가중치 α'), 'α v', rows, words('context vector', '문맥 벡터'))}</div>"
        )
    width = context.values.shape[1]
    few = min(WIDTH, width)
    lead = words(
        "At each step of the translation the decoder takes a weighted sum of the values of the source. Every row is "
        f"one weight times one value (the first {few} of its {width} numbers), and the last row is the sum so far.",
        "번역의 단계마다 디코더는 원문 밸류의 가중합을 구한다. 행 하나가 가중치 곱하기 밸류이고"
        f"(수 {width}개 가운데 처음 {few}개), 마지막 행이 지금까지의 합이다.",
    )
    if count < len(context.target):
        lead += words(
            f" The first {count} of {len(context.target)} steps are shown.",
            f" 전체 {len(context.target)}단계 가운데 처음 {count}단계만 보여 준다.",
        )
    return f"<p>{escape(lead)}</p>{_stepper(frames, count * terms, words)}"


def _squeezed(context: Squeezed, words: Words) -> str:
    """For each piece that is read, the vector then, and what every piece before it still changes in it."""
    count, width = len(context.source), context.vectors.shape[1]
    most = max(float(context.vectors[:, :WIDTH].abs().max()), 1e-9)
    frames = []
    for end in range(count):
        rows = "".join(
            f'<tr>{_named(context.source[place], float(context.influence[end, place]))}<td colspan="{WIDTH}"></td></tr>'
            for place in range(end + 1)
        )
        vector = words("vector", "벡터")
        rows += (
            f'<tr class="sum"><th scope="row">{vector}</th><td></td>'
            f"{_cells(context.vectors[end, :WIDTH].tolist(), most)}</tr>"
        )
        caption = words(f"After {end + 1} of {count}", f"{count}개 가운데 {end + 1}개를 읽은 뒤")
        frames.append(
            f'<div data-from="{end + 1}" data-to="{end + 1}"><h3>{caption}: “{escape(context.source[end])}”</h3>'
            f"{_table(words('changes the vector by', '벡터를 바꾸는 정도'), 'h', rows, vector)}</div>"
        )
    return f"<p>{escape(told(context, width, words))}</p>{_stepper(frames, count, words)}"


def told(context: Squeezed, width: int, words: Words) -> str:
    """What is squeezed into the last vector, from the numbers."""
    count = len(context.source)
    lead = words(
        f"The decoder is given nothing but this vector: {width} numbers for {count} pieces, and no more for a longer "
        "sentence. A bar tells by how much the vector changes, relative to its length, if a piece is left out.",
        f"디코더가 받는 것은 이 벡터뿐이다. 조각 {count}개에 수 {width}개이며, 문장이 길어져도 늘지 않는다. 막대는 그 "
        "조각을 뺐을 때 벡터가 자기 길이에 비해 얼마나 바뀌는지를 뜻한다.",
    )
    if count < 3:
        return lead
    last = context.influence[-1, :-1]  # without the end, which is no word
    first, final = float(last[0]), float(last[-1])
    numbers = words(
        f"the first piece changes it by {100 * first:.0f}%, the last by {100 * final:.0f}%",
        f"첫 조각은 {100 * first:.0f}%, 마지막 조각은 {100 * final:.0f}%만큼 바꾼다",
    )
    if first < final / 1.5:
        end = words(f"At the end the beginning has faded: {numbers}.", f"끝에 가면 앞부분은 희미해진다. {numbers}.")
    elif first > final * 1.5:
        end = words(f"At the end the beginning counts most: {numbers}.", f"앞부분이 끝까지 남는다. {numbers}.")
    else:
        end = words(f"At the end both ends count alike: {numbers}.", f"끝에 가면 앞뒤가 비슷하게 남는다. {numbers}.")
    return f"{lead} {end}"


def _named(piece: str, share: float) -> str:
    """A piece, and its share as a bar and a number."""
    wide = f"{min(100.0, 100 * share):.1f}"
    return (
        f'<th scope="row">{escape(piece)}</th><td class="bar">{share:.2f}'
        f'<span class="meter m0" style="width:{wide}%"></span></td>'
    )


def _cells(values: Sequence[float], most: float) -> str:
    return "".join(
        f'<td class="{"minus" if value < 0 else "plus"}" style="--v:{min(1.0, abs(value) / most):.2f}">'
        f"{round(value, 2) + 0.0:.2f}</td>"
        for value in values
    )


def _table(share: str, over: str, rows: str, name: str) -> str:
    head = f'<th scope="col" class="bar">{escape(share)}</th><th scope="colgroup" colspan="{WIDTH}">{over}</th>'
    top = f"<thead><tr><td></td>{head}</tr></thead>"
    return scrollable(f'<table class="matrix">{top}<tbody>{rows}</tbody></table>', name)


def _stepper(frames: Sequence[str], steps: int, words: Words) -> str:
    play, pause = words("Play", "재생"), words("Pause", "멈춤")
    before, after, step = words("Step back", "한 단계 뒤로"), words("Next step", "다음 단계"), words("Step", "단계")
    return (
        f'<div class="stepper" tabindex="0" role="group" aria-label="{step}"><div class="controls" hidden>'
        f'<button type="button" data-by="-1" aria-label="{before}">←</button>'
        f'<button type="button" data-play="{play}" data-pause="{pause}">{play}</button>'
        f'<button type="button" data-by="1" aria-label="{after}">→</button>'
        f'<input type="range" min="1" max="{steps}" value="1" aria-label="{step}"><output></output></div>'
        f"{''.join(frames)}</div>"
    )
