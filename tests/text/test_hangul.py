"""Korean morphology, against forms as the dictionary gives them."""

from __future__ import annotations

import pytest

from tongsa.demo import lexicon
from tongsa.text.hangul import (
    AND,
    BY,
    OBJECT,
    SUBJECT,
    TOPIC,
    Predicate,
    attach,
    copula,
    final_of,
    join,
    native,
    sino,
    split,
)

# stem, irregular class: polite, past, formal, -(으)ㄴ, -(으)ㄹ, -(으)면, -는, honorific polite
VERBS = """
가     : 가요 갔어요 갑니다 간 갈 가면 가는 가세요
오     : 와요 왔어요 옵니다 온 올 오면 오는 오세요
보     : 봐요 봤어요 봅니다 본 볼 보면 보는 보세요
마시   : 마셔요 마셨어요 마십니다 마신 마실 마시면 마시는 마시세요
하     : 해요 했어요 합니다 한 할 하면 하는 하세요
공부하 : 공부해요 공부했어요 공부합니다 공부한 공부할 공부하면 공부하는 공부하세요
먹     : 먹어요 먹었어요 먹습니다 먹은 먹을 먹으면 먹는 먹으세요
읽     : 읽어요 읽었어요 읽습니다 읽은 읽을 읽으면 읽는 읽으세요
찾     : 찾아요 찾았어요 찾습니다 찾은 찾을 찾으면 찾는 찾으세요
닫     : 닫아요 닫았어요 닫습니다 닫은 닫을 닫으면 닫는 닫으세요
입     : 입어요 입었어요 입습니다 입은 입을 입으면 입는 입으세요
씻     : 씻어요 씻었어요 씻습니다 씻은 씻을 씻으면 씻는 씻으세요
살     : 살아요 살았어요 삽니다 산 살 살면 사는 사세요
만들   : 만들어요 만들었어요 만듭니다 만든 만들 만들면 만드는 만드세요
열     : 열어요 열었어요 엽니다 연 열 열면 여는 여세요
팔     : 팔아요 팔았어요 팝니다 판 팔 팔면 파는 파세요
걷 ㄷ  : 걸어요 걸었어요 걷습니다 걸은 걸을 걸으면 걷는 걸으세요
듣 ㄷ  : 들어요 들었어요 듣습니다 들은 들을 들으면 듣는 들으세요
돕 ㅂ  : 도와요 도왔어요 돕습니다 도운 도울 도우면 돕는 도우세요
굽 ㅂ  : 구워요 구웠어요 굽습니다 구운 구울 구우면 굽는 구우세요
짓 ㅅ  : 지어요 지었어요 짓습니다 지은 지을 지으면 짓는 지으세요
낫 ㅅ  : 나아요 나았어요 낫습니다 나은 나을 나으면 낫는 나으세요
부르 르: 불러요 불렀어요 부릅니다 부른 부를 부르면 부르는 부르세요
고르 르: 골라요 골랐어요 고릅니다 고른 고를 고르면 고르는 고르세요
쓰     : 써요 썼어요 씁니다 쓴 쓸 쓰면 쓰는 쓰세요
모으   : 모아요 모았어요 모읍니다 모은 모을 모으면 모으는 모으세요
배우   : 배워요 배웠어요 배웁니다 배운 배울 배우면 배우는 배우세요
주     : 줘요 줬어요 줍니다 준 줄 주면 주는 주세요
보내   : 보내요 보냈어요 보냅니다 보낸 보낼 보내면 보내는 보내세요
켜     : 켜요 켰어요 켭니다 켠 켤 켜면 켜는 켜세요
쉬     : 쉬어요 쉬었어요 쉽니다 쉰 쉴 쉬면 쉬는 쉬세요
가르치 : 가르쳐요 가르쳤어요 가르칩니다 가르친 가르칠 가르치면 가르치는 가르치세요
기다리 : 기다려요 기다렸어요 기다립니다 기다린 기다릴 기다리면 기다리는 기다리세요
"""

# stem, irregular class: polite, past, formal, before a noun, -(으)면
ADJECTIVES = """
크        : 커요 컸어요 큽니다 큰 크면
바쁘      : 바빠요 바빴어요 바쁩니다 바쁜 바쁘면
예쁘      : 예뻐요 예뻤어요 예쁩니다 예쁜 예쁘면
작        : 작아요 작았어요 작습니다 작은 작으면
넓        : 넓어요 넓었어요 넓습니다 넓은 넓으면
얇        : 얇아요 얇았어요 얇습니다 얇은 얇으면
길        : 길어요 길었어요 깁니다 긴 길면
달        : 달아요 달았어요 답니다 단 달면
춥 ㅂ     : 추워요 추웠어요 춥습니다 추운 추우면
아름답 ㅂ : 아름다워요 아름다웠어요 아름답습니다 아름다운 아름다우면
빠르 르   : 빨라요 빨랐어요 빠릅니다 빠른 빠르면
빨갛 ㅎ   : 빨개요 빨갰어요 빨갛습니다 빨간 빨가면
하얗 ㅎ   : 하얘요 하얬어요 하얗습니다 하얀 하야면
좋        : 좋아요 좋았어요 좋습니다 좋은 좋으면
재미있    : 재미있어요 재미있었어요 재미있습니다 재미있는 재미있으면
건강하    : 건강해요 건강했어요 건강합니다 건강한 건강하면
"""


def rows(table: str, *, adjective: bool) -> list[tuple[Predicate, list[str]]]:
    made = []
    for line in table.strip().splitlines():
        word, forms = line.split(":")
        stem, *irregular = word.split()
        made.append((Predicate(stem, "".join(irregular), adjective=adjective), forms.split()))
    return made


@pytest.mark.parametrize(("verb", "forms"), rows(VERBS, adjective=False), ids=lambda value: getattr(value, "stem", ""))
def test_verbs_conjugate_as_the_dictionary_says(verb: Predicate, forms: list[str]) -> None:
    assert [
        verb.polite(),
        verb.finished("past", formal=False),
        verb.formal(),
        verb.before_noun("past"),
        verb.before_noun("future"),
        verb.opened("면"),
        verb.before_noun("present"),
        verb.honored().polite(),
    ] == forms


@pytest.mark.parametrize(
    ("word", "forms"), rows(ADJECTIVES, adjective=True), ids=lambda value: getattr(value, "stem", "")
)
def test_adjectives_conjugate_as_the_dictionary_says(word: Predicate, forms: list[str]) -> None:
    assert [
        word.polite(),
        word.finished("past", formal=False),
        word.formal(),
        word.before_noun("present"),
        word.opened("면"),
    ] == forms


def test_honorific_stems_end_in_seyo_only_where_they_are_honorific() -> None:
    assert Predicate("마시").polite() == "마셔요"
    assert Predicate("드시", honorific=True).polite() == "드세요"
    assert Predicate("드시", honorific=True).finished("past", formal=True) == "드셨습니다"
    assert Predicate("읽").honored().finished("future", formal=False) == "읽으실 거예요"
    assert Predicate("짓", "ㅅ").honored().finished("present", formal=True, asked=True) == "지으십니까"


@pytest.mark.parametrize(
    ("word", "forms"),
    [
        ("책", "책은 책이 책을 책과 책으로"),
        ("사과", "사과는 사과가 사과를 사과와 사과로"),
        ("지하철", "지하철은 지하철이 지하철을 지하철과 지하철로"),
        ("부엌", "부엌은 부엌이 부엌을 부엌과 부엌으로"),
        ("저", "저는 제가 저를 저와 저로"),
    ],
)
def test_particles_follow_the_final_consonant(word: str, forms: str) -> None:
    assert [attach(word, particle) for particle in (TOPIC, SUBJECT, OBJECT, AND, BY)] == forms.split()


def test_every_noun_of_the_lexicon_takes_its_particles_by_its_final_consonant() -> None:
    things = [noun.korean for nouns in lexicon.THINGS.values() for noun in nouns]
    people = [person.korean for group in (lexicon.PEOPLE, lexicon.NAMES, lexicon.YOUNGER) for person in group]
    tools = [tool for group in lexicon.TOOLS.values() for tool in group]
    for word in [*things, *people, *tools, *lexicon.PLACES, *lexicon.CITIES]:
        # Independent of the code under test: a syllable block is open when its offset divides by 28, and ㄹ is the 8th.
        final = (ord(word[-1]) - ord("가")) % 28
        assert attach(word, TOPIC) == word + ("은" if final else "는")
        assert attach(word, SUBJECT) == word + ("이" if final else "가")
        assert attach(word, OBJECT) == word + ("을" if final else "를")
        assert attach(word, AND) == word + ("과" if final else "와")
        assert attach(word, BY) == word + ("로" if final in (0, 8) else "으로")


def test_splitting_and_joining_every_syllable_gives_it_back() -> None:
    for code in range(ord("가"), ord("힣") + 1):
        assert join(*split(chr(code))) == chr(code)


def test_what_is_no_syllable_is_refused() -> None:
    with pytest.raises(ValueError, match="not a precomposed Hangul syllable"):
        final_of("book")


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        (copula("학생", "present", formal=False), "학생이에요"),
        (copula("의사", "present", formal=False), "의사예요"),
        (copula("의사", "present", formal=True), "의사입니다"),
        (copula("학생", "past", formal=False), "학생이었어요"),
        (copula("의사", "past", formal=True), "의사였습니다"),
        (copula("의사", "present", formal=False, negated=True), "의사가 아니에요"),
        (copula("학생", "present", formal=True, negated=True, asked=True), "학생이 아닙니까"),
        (copula("학생", "past", formal=False, negated=True), "학생이 아니었어요"),
        (copula("의사", "present", formal=False, honorific=True), "의사세요"),
        (copula("시인", "past", formal=True, honorific=True), "시인이셨습니다"),
        (copula("시인", "present", formal=False, honorific=True, negated=True), "시인이 아니세요"),
    ],
)
def test_the_copula_follows_its_noun(form: str, expected: str) -> None:
    assert form == expected


def test_numerals() -> None:
    assert [native(number) for number in (1, 3, 4, 12, 20, 21, 36)] == [
        "한",
        "세",
        "네",
        "열두",
        "스무",
        "스물한",
        "서른여섯",
    ]
    assert [sino(number) for number in (3, 12, 40, 15_000, 30_000)] == ["삼", "십이", "사십", "만 오천", "삼만"]
