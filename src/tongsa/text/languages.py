"""Codes of languages, as files write them: `en`, `EN-us`, `en_US.UTF-8`, `eng` are all English."""

from __future__ import annotations

from functools import lru_cache

_TO_TWO_LETTERS = """
afr:af amh:am ara:ar aze:az bel:be ben:bn bul:bg cat:ca ces:cs cze:cs cym:cy wel:cy dan:da deu:de ger:de ell:el
gre:el eng:en epo:eo est:et eus:eu baq:eu fas:fa per:fa fin:fi fra:fr fre:fr gle:ga glg:gl guj:gu hau:ha heb:he
hin:hi hrv:hr hun:hu hye:hy arm:hy ind:id isl:is ice:is ita:it jpn:ja kan:kn kat:ka geo:ka kaz:kk khm:km kor:ko
lao:lo lav:lv lit:lt ltz:lb mal:ml mar:mr mkd:mk mac:mk mlt:mt mon:mn msa:ms may:ms mya:my bur:my nep:ne nld:nl
dut:nl nor:no nob:nb nno:nn pan:pa pol:pl por:pt pus:ps ron:ro rum:ro rus:ru sin:si slk:sk slo:sk slv:sl som:so
spa:es sqi:sq alb:sq srp:sr swa:sw swe:sv tam:ta tel:te tgl:tl tha:th tur:tr ukr:uk urd:ur uzb:uz vie:vi xho:xh
yor:yo zho:zh chi:zh zul:zu
"""
_TO_TWO = dict(pair.split(":") for pair in _TO_TWO_LETTERS.split())


@lru_cache(maxsize=4096)
def plain_code(code: str) -> str:
    """`de-at` of `DE_AT.UTF-8@euro`, `en` of `eng`."""
    language, *rest = code.split(".")[0].split("@")[0].strip().lower().replace("_", "-").split("-")
    return "-".join([_TO_TWO.get(language, language), *rest])


@lru_cache(maxsize=4096)
def matches(code: str, wanted: str) -> bool:
    """Whether text marked with `code` is of the language that is wanted.

    Asked for `en`, every English will do; asked for `en-US`, plain `en` will do, but `en-GB` will not.
    """
    have, want = plain_code(code), plain_code(wanted)
    return have == want or have.startswith(want + "-") or want.startswith(have + "-")


_NAMES = {
    "ar": "Arabic", "bg": "Bulgarian", "bn": "Bengali", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian",
    "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fr": "French", "ga": "Irish", "gl": "Galician",
    "he": "Hebrew", "hi": "Hindi", "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "is": "Icelandic",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "ms": "Malay",
    "nb": "Norwegian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian",
    "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil",
    "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip


def language_name(code: str) -> str:
    """The English name of a language, or its code where this table has none."""
    return _NAMES.get(plain_code(code), code)
