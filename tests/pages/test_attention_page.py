"""The self-contained page."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re

import pytest
import torch

from tongsa.engines.inspection import Facts, Inspection
from tongsa.models.contracts import Attention
from tongsa.pages.attention import MODULES, bundle, frame, page
from tongsa.pages.frame import STATIC

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&"


@pytest.fixture
def hostile() -> Inspection:
    weights = [torch.full((1, 2, 2, 2), 0.5)]
    facts = Facts(architecture=HOSTILE, source=HOSTILE, target=HOSTILE)
    return Inspection((HOSTILE, "</s>"), (HOSTILE, "</s>"), Attention(weights, weights, weights), facts)


def test_everything_that_runs_is_ours_and_nothing_is_fetched(hostile: Inspection) -> None:
    text = page(hostile)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    for element, directive in (("style", "style-src"), ("script", "script-src")):
        body = re.search(rf"<{element}>(.*?)</{element}>", text, re.DOTALL)
        assert body is not None
        digest = base64.b64encode(hashlib.sha256(body[1].encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy[1]
    assert policy[1].startswith("default-src 'none'")
    assert not re.search(r"""(src|href)=["']?(http|//)""", text)


def test_hostile_tokens_stay_text(hostile: Inspection) -> None:
    text = page(hostile)
    assert "<img" not in text
    assert text.count("</script>") == 2
    data = re.search(r'id="data">(.*?)</script>', text)
    assert data is not None
    assert json.loads(data[1])["source"] == [HOSTILE, "</s>"]
    assert html.unescape(frame(hostile)[frame(hostile).index("srcdoc=") + 8 : -11]) == text


def test_every_module_finds_what_it_imports_above_it() -> None:
    above: set[str] = set()
    for name in MODULES:
        text = (STATIC / name).read_text(encoding="utf-8")
        folder = (STATIC / name).parent
        for given, path in re.findall(r'^import \{([^}]*)\} from "([^"]+)";$', text, re.MULTILINE):
            assert (folder / path).resolve().relative_to(STATIC).as_posix() in MODULES, f"{name} imports {path}"
            assert {word.strip() for word in given.split(",")} <= above, f"{name} imports {given}"
        assert len(re.findall("^import", text, re.MULTILINE)) == len(re.findall(r"^import \{", text, re.MULTILINE))
        above |= set(re.findall(r"^export (?:async )?(?:function|const) (\w+)", text, re.MULTILINE))


def test_no_two_modules_use_a_name_for_different_things() -> None:
    names = re.findall(r"^(?:async )?(?:function|const|let|class) (\w+)", bundle(), re.MULTILINE)
    assert len(names) == len(set(names))
    assert not re.search(r"^(import|export)\b", bundle(), re.MULTILINE)
