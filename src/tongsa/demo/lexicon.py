"""The words of the built-in corpus, each with its translation and what can naturally be done with it.

A word has one translation, so that Korean decides the English. Places, counters and companions are listed per word, so
that sentences say things that people say: bread is bought at the market, not at the swimming pool.
"""

from __future__ import annotations

from dataclasses import dataclass

from tongsa.text.hangul import Predicate


@dataclass(frozen=True)
class Noun:
    """A thing: how it is named, counted and turned into a plural."""

    korean: str
    english: str
    counter: str = "개"
    plural: str = ""
    """Only where it is not regular."""
    mass: bool = False
    """Uncountable in English: no article, counted by `measure`."""
    measure: str = ""
    """The English measure of a counter: 커피 두 잔, two cups of coffee."""
    definite: bool = False
    """Takes "the" as an object where others take "a": one opens the door."""


@dataclass(frozen=True)
class Verb:
    """An action. `english` inflects on its first word, so it can be phrasal."""

    predicate: Predicate
    english: str
    kinds: tuple[str, ...] = ()
    """The kinds of `THINGS` that it takes as objects."""
    places: str = ""
    """Korean names of the `PLACES` where people do it."""
    social: bool = False
    """Done together with someone."""
    tools: str = ""
    """The key of `TOOLS` that it can be done with."""
    lasting: bool = False
    """Goes on for years, so it has no hour or day: living, raising, building."""
    many: bool = False
    """Always of several things: collects photos."""
    elders: Predicate | None = None
    """The honorific word where the language has one of its own: 드시다 for 먹다."""


@dataclass(frozen=True)
class Adjective:
    """A quality, of the kinds of things that can have it."""

    predicate: Predicate
    english: str
    kinds: tuple[str, ...]


@dataclass(frozen=True)
class Person:
    """Someone who can be a subject. `pronoun` is empty where the Korean word does not tell it."""

    korean: str
    english: str
    pronoun: str = ""
    plural: str = ""
    honorific: bool = False


@dataclass(frozen=True)
class Place:
    """A place, with the English of going there and of being there."""

    korean: str
    to: str
    at: str


def _verb(
    stem: str,
    english: str,
    kinds: str = "",
    places: str = "",
    *,
    irregular: str = "",
    social: bool = False,
    tools: str = "",
    lasting: bool = False,
    many: bool = False,
    elders: str = "",
) -> Verb:
    honored = Predicate(elders, honorific=True) if elders else None
    predicate = Predicate(stem, irregular)
    return Verb(predicate, english, tuple(kinds.split()), places, social, tools, lasting, many, honored)


def _adjective(stem: str, english: str, kinds: str, irregular: str = "") -> Adjective:
    return Adjective(Predicate(stem, irregular, adjective=True), english, tuple(kinds.split()))


THINGS: dict[str, tuple[Noun, ...]] = {
    "book": (Noun("책", "book", "권"), Noun("사전", "dictionary", "권"), Noun("만화책", "comic book", "권")),
    "press": (Noun("신문", "newspaper", "부"), Noun("잡지", "magazine", "권")),
    "writing": (Noun("편지", "letter", "통"), Noun("시", "poem", "편"), Noun("소설", "novel", "권")),
    "fruit": (Noun("사과", "apple"), Noun("수박", "watermelon", "통"), Noun("토마토", "tomato", plural="tomatoes")),
    "food": (Noun("귤", "tangerine"), Noun("감자", "potato", plural="potatoes"), Noun("달걀", "egg")),
    "baked": (Noun("빵", "bread", mass=True, measure="piece"), Noun("쿠키", "cookie")),
    "dish": (
        Noun("만두", "dumpling"),
        Noun("김밥", "gimbap", "줄", mass=True, measure="roll"),
        Noun("떡", "rice cake"),
    ),
    "drink": tuple(
        Noun(korean, english, "잔", mass=True, measure="cup")
        for korean, english in {"커피": "coffee", "물": "water", "우유": "milk", "차": "tea", "주스": "juice"}.items()
    ),
    "clothes": (
        Noun("코트", "coat", "벌"),
        Noun("스웨터", "sweater", "벌"),
        Noun("셔츠", "shirt", "벌"),
        Noun("한복", "hanbok", "벌", "hanbok"),
    ),
    "thing": (
        Noun("가방", "bag"),
        Noun("우산", "umbrella"),
        Noun("시계", "watch"),
        Noun("모자", "hat"),
        Noun("지갑", "wallet"),
    ),
    "machine": (Noun("컴퓨터", "computer", "대"), Noun("카메라", "camera", "대")),
    "vehicle": (Noun("자전거", "bicycle", "대"), Noun("자동차", "car", "대")),
    "picture": (Noun("그림", "picture", "장"), Noun("지도", "map", "장")),
    "photo": (Noun("사진", "photo", "장"),),
    "film": (Noun("영화", "movie", "편"), Noun("드라마", "drama", "편"), Noun("연극", "play", "편")),
    "song": (Noun("노래", "song", "곡"),),
    "sound": (Noun("음악", "music", mass=True), Noun("라디오", "the radio", mass=True)),
    "subject": (
        Noun("한국어", "Korean", mass=True),
        Noun("영어", "English", mass=True),
        Noun("수학", "mathematics", mass=True),
        Noun("역사", "history", mass=True),
    ),
    "animal": (Noun("강아지", "puppy", "마리"), Noun("고양이", "cat", "마리"), Noun("토끼", "rabbit", "마리")),
    "flower": (Noun("장미", "rose", "송이"), Noun("튤립", "tulip", "송이")),
    "house": (Noun("집", "house", "채"),),
    "opening": (Noun("문", "door", definite=True), Noun("창문", "window", definite=True)),
    "room": (
        Noun("방", "room", definite=True),
        Noun("교실", "classroom", definite=True),
        Noun("부엌", "kitchen", definite=True),
    ),
    "child": (Noun("아이", "child", "명", "children"), Noun("친구", "friend", "명"), Noun("이웃", "neighbor", "명")),
}

PEOPLE = (
    Person("학생", "student"),
    Person("친구", "friend"),
    Person("의사", "doctor"),
    Person("간호사", "nurse"),
    Person("가수", "singer"),
    Person("기자", "reporter"),
    Person("요리사", "cook"),
    Person("경찰관", "police officer"),
    Person("작가", "writer"),
    Person("군인", "soldier"),
    Person("아이", "child", plural="children"),
    Person("남자", "man", "he", "men"),
    Person("여자", "woman", "she", "women"),
)

NAMES = tuple(
    Person(korean, english, pronoun)
    for pronoun, names in {
        "he": {
            "민수": "Minsu",
            "지훈": "Jihun",
            "철수": "Cheolsu",
            "준호": "Junho",
            "동현": "Donghyeon",
            "상우": "Sangwoo",
        },
        "she": {
            "영희": "Yeonghui",
            "수진": "Sujin",
            "유나": "Yuna",
            "지은": "Jieun",
            "서연": "Seoyeon",
            "미라": "Mira",
        },
    }.items()
    for korean, english in names.items()
)

PRONOUNS = (
    Person("저", "I", "I"),
    Person("우리", "we", "we"),
    Person("그", "he", "he"),
    Person("그녀", "she", "she"),
    Person("그들", "they", "they"),
)

TITLED = (
    Person("선생님", "teacher", honorific=True),
    Person("교수님", "professor", honorific=True),
    Person("사장님", "boss", honorific=True),
)

ELDERS = (
    Person("할머니", "grandmother", "she", honorific=True),
    Person("할아버지", "grandfather", "he", honorific=True),
    Person("어머니", "mother", "she", honorific=True),
    Person("아버지", "father", "he", honorific=True),
)

YOUNGER = (
    Person("여동생", "younger sister", "she"),
    Person("남동생", "younger brother", "he"),
    Person("딸", "daughter", "she"),
    Person("아들", "son", "he"),
)

SURNAMES = {"김": "Kim", "박": "Park", "최": "Choi", "정": "Jeong"}
"""Without 이 (Lee), which before a title could as well be "this"."""

OWNERS = {"제": "my", "우리": "our", "그의": "his", "그녀의": "her"}

PLACES = {
    place.korean: place
    for place in (
        Place("학교", "to school", "at school"),
        Place("집", "home", "at home"),
        Place("회사", "to the office", "at the office"),
        Place("도서관", "to the library", "at the library"),
        Place("시장", "to the market", "at the market"),
        Place("공원", "to the park", "at the park"),
        Place("식당", "to the restaurant", "at the restaurant"),
        Place("카페", "to the cafe", "at the cafe"),
        Place("병원", "to the hospital", "at the hospital"),
        Place("백화점", "to the department store", "at the department store"),
        Place("서점", "to the bookstore", "at the bookstore"),
        Place("극장", "to the theater", "at the theater"),
        Place("바닷가", "to the beach", "at the beach"),
        Place("서울", "to Seoul", "in Seoul"),
        Place("부산", "to Busan", "in Busan"),
        Place("제주도", "to Jeju Island", "on Jeju Island"),
        Place("시골", "to the countryside", "in the countryside"),
    )
}

CITIES = {
    "서울": "Seoul",
    "부산": "Busan",
    "대구": "Daegu",
    "광주": "Gwangju",
    "인천": "Incheon",
    "제주도": "Jeju Island",
}

TOOLS = {
    "vehicle": {"버스": "by bus", "지하철": "by subway", "택시": "by taxi", "자전거": "by bicycle"},
    "train": {"기차": "by train", "버스": "by bus", "비행기": "by plane"},
    "island": {"비행기": "by plane", "배": "by ship"},
    "pen": {"연필": "with a pencil", "펜": "with a pen", "붓": "with a brush"},
    "blade": {"칼": "with a knife"},
}

ACTIONS = (
    _verb("읽", "read", "book press writing", "도서관 집 학교 카페 공원"),
    _verb("쓰", "write", "writing", "도서관 집 카페", tools="pen"),
    _verb("사", "buy", "fruit food baked dish clothes thing flower", "시장 백화점", social=True),
    _verb("사", "buy", "book press", "서점", social=True),
    _verb("팔", "sell", "fruit food clothes thing flower", "시장 서울"),
    _verb("먹", "eat", "fruit food baked dish", "식당 집 학교 공원 회사", social=True, elders="드시"),
    _verb("마시", "drink", "drink", "카페 집 회사 공원 학교", social=True, elders="드시"),
    _verb("굽", "bake", "baked", "집 식당 학교", irregular="ㅂ", social=True),
    _verb("만들", "make", "dish clothes", "집 학교", social=True),
    _verb("입", "wear", "clothes"),
    _verb("보", "watch", "film", "극장 집 학교", social=True),
    _verb("빌리", "borrow", "book", "도서관 학교"),
    _verb("고르", "choose", "clothes thing flower", "백화점 시장", irregular="르", social=True),
    _verb("고치", "fix", "machine vehicle", "집 회사"),
    _verb("그리", "draw", "picture animal flower", "집 학교 공원", tools="pen"),
    _verb("찍", "take", "photo", "공원 바닷가 제주도 서울", social=True),
    _verb("부르", "sing", "song", "집 학교 공원", irregular="르", social=True),
    _verb("듣", "listen to", "sound song", "집 카페 공원", irregular="ㄷ", social=True),
    _verb("배우", "learn", "subject", "학교 서울 부산", social=True),
    _verb("공부하", "study", "subject", "도서관 집 학교 카페", social=True),
    _verb("가르치", "teach", "subject", "학교 서울 부산"),
    _verb("키우", "raise", "animal", "집 시골", lasting=True, many=True),
    _verb("짓", "build", "house", "서울 시골 제주도 부산", irregular="ㅅ", lasting=True),
    _verb("열", "open", "opening"),
    _verb("닫", "close", "opening"),
    _verb("청소하", "clean", "room", social=True),
    _verb("돕", "help", "child", "학교 병원 회사 시장", irregular="ㅂ"),
    _verb("만나", "meet", "child", "공원 카페 학교 시장 극장"),
    _verb("기다리", "wait for", "child", "카페 학교 공원 극장"),
    _verb("자르", "cut", "fruit", "집 식당", irregular="르", tools="blade"),
    _verb("모으", "collect", "picture photo", lasting=True, many=True),
)

SENDING = (
    _verb("주", "give", "book thing flower baked photo"),
    _verb("보내", "send", "book writing photo flower"),
    _verb("보여 주", "show", "photo picture animal writing"),
    _verb("읽어 주", "read", "book writing"),
)

LIKING = (
    _verb("좋아하", "like", "fruit food baked dish drink film subject animal flower book", lasting=True, many=True),
    _verb("싫어하", "dislike", "fruit food drink subject animal", lasting=True, many=True),
)

DOINGS = (
    _verb("자", "sleep", "", "집 학교", elders="주무시"),
    _verb("쉬", "rest", "", "집 공원 바닷가 시골 카페", social=True),
    _verb("걷", "walk", "", "공원 바닷가", irregular="ㄷ", social=True),
    _verb("일하", "work", "", "회사 병원 식당 시장 서울", social=True),
    _verb("뛰", "run", "", "공원 학교 바닷가", social=True),
    _verb("수영하", "swim", "", "바닷가 제주도 부산", social=True),
    _verb("운동하", "exercise", "", "공원 집 학교", social=True),
    _verb("요리하", "cook", "", "집 식당", social=True),
    _verb("춤을 추", "dance", "", "공원 학교 극장", social=True),
)

MOTIONS = (
    _verb("가", "go", social=True, tools="vehicle"),
    _verb("오", "come", social=True, tools="vehicle"),
    _verb("돌아오", "come back", social=True),
    _verb("돌아가", "go back", social=True),
)

LIVING = _verb("살", "live", lasting=True)

QUALITIES = (
    _adjective("크", "big", "thing machine vehicle house room animal picture opening"),
    _adjective("작", "small", "thing machine vehicle house room animal picture opening fruit"),
    _adjective("비싸", "expensive", "thing machine vehicle house clothes flower fruit"),
    _adjective("싸", "cheap", "thing machine vehicle clothes flower fruit"),
    _adjective("예쁘", "pretty", "thing clothes flower picture photo"),
    _adjective("아름답", "beautiful", "flower picture photo song house", "ㅂ"),
    _adjective("재미있", "interesting", "book writing film"),
    _adjective("슬프", "sad", "song film writing"),
    _adjective("길", "long", "writing film song"),
    _adjective("짧", "short", "writing film song"),
    _adjective("어렵", "difficult", "book song writing", "ㅂ"),
    _adjective("쉽", "easy", "book song writing", "ㅂ"),
    _adjective("맛있", "delicious", "fruit food baked dish"),
    _adjective("달", "sweet", "fruit baked"),
    _adjective("무겁", "heavy", "thing", "ㅂ"),
    _adjective("가볍", "light", "thing", "ㅂ"),
    _adjective("빠르", "fast", "vehicle animal", "르"),
    _adjective("조용하", "quiet", "animal house room song"),
    _adjective("깨끗하", "clean", "clothes house room"),
    _adjective("넓", "spacious", "house room"),
    _adjective("빨갛", "red", "clothes thing flower", "ㅎ"),
    _adjective("파랗", "blue", "clothes thing", "ㅎ"),
    _adjective("노랗", "yellow", "clothes thing flower", "ㅎ"),
    _adjective("하얗", "white", "clothes thing animal flower", "ㅎ"),
    _adjective("까맣", "black", "clothes thing animal", "ㅎ"),
)

TRAITS = (
    _adjective("친절하", "kind", "person"),
    _adjective("똑똑하", "smart", "person"),
    _adjective("부지런하", "diligent", "person"),
    _adjective("정직하", "honest", "person"),
    _adjective("유명하", "famous", "person"),
)

MOODS = (
    _adjective("바쁘", "busy", "person"),
    _adjective("피곤하", "tired", "person"),
    _adjective("행복하", "happy", "person"),
    _adjective("슬프", "sad", "person"),
    _adjective("건강하", "healthy", "person"),
)

WEATHER = (
    _adjective("춥", "cold", "weather", "ㅂ"),
    _adjective("덥", "hot", "weather", "ㅂ"),
    _adjective("좋", "good", "weather"),
    _adjective("나쁘", "bad", "weather"),
    _adjective("따뜻하", "warm", "weather"),
    _adjective("맑", "clear", "weather"),
)

SPOTS = {"위": "on", "아래": "under", "옆": "next to", "앞": "in front of", "뒤": "behind"}
FURNITURE = {
    "책상": ("the desk", "위 아래 옆"),
    "침대": ("the bed", "위 아래 옆"),
    "의자": ("the chair", "위 아래 옆 뒤"),
    "상자": ("the box", "위 옆 앞 뒤"),
    "문": ("the door", "옆 앞 뒤"),
    "나무": ("the tree", "아래 옆 앞 뒤"),
}
"""What stands in a room, and the `SPOTS` where things are found."""
