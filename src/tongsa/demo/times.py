"""The words for times of the built-in corpus, with their translations."""

from __future__ import annotations

PAST_TIMES = {
    "어제": "yesterday",
    "그저께": "the day before yesterday",
    "지난주에": "last week",
    "지난달에": "last month",
    "작년에": "last year",
    "어젯밤에": "last night",
}
FUTURE_TIMES = {
    "내일": "tomorrow",
    "모레": "the day after tomorrow",
    "다음 주에": "next week",
    "다음 달에": "next month",
    "내년에": "next year",
    "오늘 밤에": "tonight",
}
LONG_TIMES = {
    "past": {"작년에": "last year", "지난달에": "last month"},
    "present": {"요즘": "these days"},
    "future": {"내년에": "next year", "다음 달에": "next month"},
}
HABIT_TIMES = {
    "매일": "every day",
    "매주": "every week",
    "아침마다": "every morning",
    "주말마다": "every weekend",
    "요즘": "these days",
}
OFTEN = {"자주": "often", "가끔": "sometimes", "항상": "always", "보통": "usually"}
DAY_PARTS = {"아침": "morning", "오후": "afternoon", "저녁": "evening"}
WEEKDAYS = {
    "월요일": "Monday",
    "화요일": "Tuesday",
    "수요일": "Wednesday",
    "목요일": "Thursday",
    "금요일": "Friday",
    "토요일": "Saturday",
    "일요일": "Sunday",
}
SPANS = {"시간": ("hour", "native"), "분": ("minute", "sino"), "달": ("month", "native"), "년": ("year", "sino")}
"""Units of time, and the numerals that count them."""
