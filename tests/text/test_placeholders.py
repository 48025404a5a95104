"""Placeholders are found whole, once, and never in prose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tongsa.text.placeholders import KINDS, counts, find


def found(text: str) -> list[str]:
    return [each.text for each in find(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%s of %d, %(name)s and %1$s", ["%s", "%d", "%(name)s", "%1$s"]),
        ("%5.2f %-10s %lu %zu %*d %<PRIu64>", ["%5.2f", "%-10s", "%lu", "%zu", "%*d", "%<PRIu64>"]),
        ("%Y-%m-%d %H:%M", ["%Y", "%m", "%d", "%H", "%M"]),
        ("%d%% done", ["%d", "%%"]),
        ("%1 of %2, %n files, %L1", ["%1", "%2", "%n", "%L1"]),
        ("{0} {name} {name!r:>10} {} {x.y[0]}", ["{0}", "{name}", "{name!r:>10}", "{}", "{x.y[0]}"]),
        ("%{count} #{x} {{ name }}", ["%{count}", "#{x}", "{{ name }}"]),
        ("{n, plural, one {# file} other {# files}}!", ["{n, plural, one {# file} other {# files}}"]),
        ("${x} $HOME $NAME$ $(VAR)", ["${x}", "$HOME", "$NAME$", "$(VAR)"]),
        ("$attach를", ["$attach"]),
        ('<b>x</b><br/><g id="1">y</g>', ["<b>", "</b>", "<br/>", '<g id="1">', "</g>"]),
        ('<a href="https://a.example/b">x</a>', ['<a href="https://a.example/b">', "</a>"]),
        ("&amp; &#39; &nbsp;", ["&amp;", "&#39;", "&nbsp;"]),
        ("See https://a.example/b_(c). (http://d.example/)", ["https://a.example/b_(c)", "http://d.example/"]),
        ("https://a.example에서 me@b.example으로", ["https://a.example", "me@b.example"]),
        ("Run `make all` and ``git``.", ["`make all`", "``git``"]),
        ("`%s' and `%s'", ["%s", "%s"]),
        ("5 km, 20°C, 100%, $5.00, 20 €, 5m는", ["5 km", "20°C", "100%", "$5.00", "20 €", "5m"]),
        ("%PATH%", ["%PATH%"]),
    ],
)
def test_placeholder_is_found_whole(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "He is 100 percent sure.",
        "a < b and c > d",
        "{not a name}",
        "AT&T;",
        "A colon: and a comma, no more.",
        "at 5 a.m.",
    ],
)
def test_prose_has_no_placeholders(text: str) -> None:
    assert found(text) == []


def test_percent_sign_of_prose_is_no_conversion() -> None:
    assert found("100% definitely") == ["100%"]


@given(st.text(alphabet="%{}$<>/&;`'\"ab1 .:@()-=\n한é", max_size=60))
def test_placeholders_stand_where_they_say_and_never_overlap(text: str) -> None:
    end = 0
    for each in find(text):
        assert each.start >= end
        assert text[each.start : each.end] == each.text != ""
        assert each.kind in KINDS
        end = each.end


def test_counts_leave_out_numbers_with_units() -> None:
    assert counts("%s: 5 km, %s") == {"%s": 2}
