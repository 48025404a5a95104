"""Language codes as found in files: `en`, `EN-us`, `en_US.UTF-8` and `eng` are all English."""

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
    """Normalise a language code: `DE_AT.UTF-8@euro` becomes `de-at`, `eng` becomes `en`."""
    language, *rest = code.split(".")[0].split("@")[0].strip().lower().replace("_", "-").split("-")
    return "-".join([_TO_TWO.get(language, language), *rest])


@lru_cache(maxsize=4096)
def matches(code: str, wanted: str) -> bool:
    """Return True if text marked with `code` is in the wanted language.

    `en` accepts every kind of English; `en-US` accepts plain `en`, but not `en-GB`.
    """
    have, want = plain_code(code), plain_code(wanted)
    return have == want or have.startswith(want + "-") or want.startswith(have + "-")


_REGIONS = """
af:ZA ar:SA bg:BG bn:BD ca:ES cs:CZ cy:GB da:DK de:DE el:GR en:US es:ES et:EE eu:ES fa:IR fi:FI fr:FR ga:IE gl:ES gu:IN
he:IL hi:IN hr:HR hu:HU id:ID is:IS it:IT ja:JP ka:GE kk:KZ ko:KR lt:LT lv:LV mk:MK ms:MY nb:NO nl:NL nn:NO pl:PL pt:PT
ro:RO ru:RU sk:SK sl:SI sq:AL sr:RS sv:SE sw:KE ta:IN te:IN th:TH tr:TR uk:UA ur:PK vi:VN zh:CN
"""
EAST_ASIAN = {"ko", "ja", "zh"}
RIGHT_TO_LEFT = {"ar", "fa", "he", "ur"}
"""Languages that office programs declare apart from all others."""
_REGION_OF = dict(pair.split(":") for pair in _REGIONS.split())


def with_region(code: str) -> tuple[str, str]:
    """Return language and region as office programs name them: (`de`, `DE`) for `de`; the region may be empty."""
    language, _, region = plain_code(code).partition("-")
    return language, region.upper() or _REGION_OF.get(language, "")


_ENGLISH_NAMES = """
af:Afrikaans am:Amharic ar:Arabic az:Azerbaijani be:Belarusian bg:Bulgarian bn:Bengali bo:Tibetan br:Breton bs:Bosnian
ca:Catalan co:Corsican cs:Czech cy:Welsh da:Danish de:German el:Greek en:English eo:Esperanto es:Spanish et:Estonian
eu:Basque fa:Persian fi:Finnish fo:Faroese fr:French fy:Frisian ga:Irish gd:Gaelic gl:Galician gu:Gujarati gv:Manx
ha:Hausa haw:Hawaiian he:Hebrew hi:Hindi hr:Croatian ht:Haitian hu:Hungarian hy:Armenian id:Indonesian ig:Igbo
is:Icelandic it:Italian ja:Japanese jv:Javanese ka:Georgian kab:Kabyle kk:Kazakh km:Khmer kn:Kannada ko:Korean
ku:Kurdish ky:Kyrgyz la:Latin lb:Luxembourgish ln:Lingala lo:Lao lt:Lithuanian lv:Latvian mg:Malagasy mi:Maori
mk:Macedonian ml:Malayalam mn:Mongolian mr:Marathi ms:Malay mt:Maltese my:Burmese nb:Norwegian ne:Nepali nl:Dutch
nn:Nynorsk no:Norwegian oc:Occitan or:Odia pa:Punjabi pl:Polish ps:Pashto pt:Portuguese qu:Quechua ro:Romanian
ru:Russian rw:Kinyarwanda se:Sami si:Sinhala sk:Slovak sl:Slovenian sn:Shona so:Somali sq:Albanian sr:Serbian
su:Sundanese sv:Swedish sw:Swahili ta:Tamil te:Telugu tg:Tajik th:Thai tk:Turkmen tl:Tagalog tr:Turkish tt:Tatar
ug:Uyghur uk:Ukrainian ur:Urdu uz:Uzbek vi:Vietnamese vo:Volapük wa:Walloon xh:Xhosa yi:Yiddish yo:Yoruba yue:Cantonese
zh:Chinese zu:Zulu
"""
_NAMES = dict(pair.split(":") for pair in _ENGLISH_NAMES.split())


def language_name(code: str) -> str:
    """Return the English name: `German` for `de`, `German (AT)` for `de-AT`; an unknown code is returned unchanged."""
    language, _, region = plain_code(code).partition("-")
    if language not in _NAMES:
        return code
    return f"{_NAMES[language]} ({region.upper()})" if region else _NAMES[language]
