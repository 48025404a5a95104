"""English names of languages by their codes."""

from __future__ import annotations

_NAMES = """
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
NAMES = dict(pair.split(":") for pair in _NAMES.split())


def name_of(code: str) -> str:
    """`German`, `German (AT)`; a code without a name is its own."""
    base, _, region = code.partition("-")
    name = NAMES.get(base, base)
    return f"{name} ({region.upper()})" if region else name
