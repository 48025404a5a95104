"""Trees of sentences, for services with a parser: an interface, and the page that uses it."""

from __future__ import annotations

from pydantic import BaseModel

from tongsa.pages.frame import Section, heading, page
from tongsa.pages.markup import escape
from tongsa.pages.trees import NOTE, DrawnTree, tree_pictures
from tongsa.server.api.pipeline import Call
from tongsa.server.api.schemas import Error, Keyed
from tongsa.server.http.answers import JSON, Json
from tongsa.server.http.refusals import invalid
from tongsa.server.http.routes import FORM, MULTIPART, Interface, Needs
from tongsa.tasks.parser import Parser

API = Interface(name="Parsing", error=Error, key_field="api_key", forms=(JSON, FORM, MULTIPART))
MAX_TEXT = 3_000
"""Characters of a text to parse: its attention grows with the square of the length of its sentences."""


class Parse(Keyed):
    q: str


class ParsedSentence(BaseModel):
    tree: str
    """In brackets."""
    score: float
    svg: str
    """A picture; each node has the weights over the words that it attended to in `data-weights`."""


class ParsedText(BaseModel):
    sentences: list[ParsedSentence]


@API.route("POST", "/api/parse", Parse, ParsedText, needs=Needs(key=True, queue=True, texts=lambda given: [given.q]))
async def parse(call: Call[Parse]) -> object:
    """Separate a text into sentences and words, and return the tree of each sentence."""
    text, parser = call.parameters.q, call.service.parser
    assert parser, "the interface is there only with a parser"
    if not text.strip():
        raise invalid("q is blank")
    if len(text) > MAX_TEXT:
        raise invalid(f"a text to parse has at most {MAX_TEXT:,} characters")
    return await call.service.translator.in_thread(lambda: Json(_parsed(parser, text)))


def _parsed(parser: Parser, text: str) -> dict[str, object]:
    found = parser.parse(parser.separate(text))
    pictures = [tree_pictures([DrawnTree(each.tree, parser.attention(each.tree))]) for each in found]
    return {
        "sentences": [
            {"tree": str(each.tree), "score": each.score, "svg": svg} for each, svg in zip(found, pictures, strict=True)
        ]
    }


def parsing_page(*, keys: bool) -> str:
    """The page on which a text is typed; `keys` asks for one."""
    key = '<label>API key <input name="api_key" type="password" autocomplete="off"></label>' if keys else ""
    form = (
        f'<form class="ask" id="ask"><textarea name="q" rows="3" maxlength="{MAX_TEXT}" aria-label="Text to parse" '
        f'placeholder="Type a sentence." required></textarea>{key}<button>Parse</button></form>'
        '<p class="missing" id="refused" role="alert" hidden></p>'
    )
    return page(
        "Tongsa: trees",
        heading=heading("Trees", over="Tongsa", text="The constituents of a sentence, as a Transformer writes them."),
        sections=[
            Section(key="text", title="Text", content=form),
            Section(key="trees", title="Trees", content=f'<p class="note">{escape(NOTE)}</p><div id="parsed"></div>'),
        ],
        footer='<a href="/docs">HTTP interface</a>',
        served="/static/kit",
        scripts=("/static/parse.js",),
    )
