"""Real message catalogs through a translator: is every placeholder in its translation exactly once?

    python benchmarks/messages.py runs/en-de                       10,000 messages with placeholders of this machine
    python benchmarks/messages.py runs/en-de --messages 500 --catalogs /usr/share/locale/de/LC_MESSAGES

The compiled catalogs are turned into templates without translations, those are translated as documents, the
placeholders of each message are counted on both sides, and `msgfmt --check` reads every file that was written.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from pathlib import Path

from tongsa.documents import translate_document
from tongsa.formats.mo import read_pairs
from tongsa.formats.pairs import Reading
from tongsa.text.placeholders import find
from tongsa.translation.translator import Translator


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("translator", type=Path)
    parser.add_argument("--catalogs", type=Path, default=Path("/usr/share/locale/de/LC_MESSAGES"))
    parser.add_argument("--messages", type=int, default=10_000)
    given = parser.parse_args()
    if not shutil.which("msgfmt") or not given.catalogs.is_dir():
        raise SystemExit("this needs msgfmt (gettext) and a folder of compiled catalogs (--catalogs)")
    translator = Translator.load(given.translator)
    states: Counter[str] = Counter()
    messages = right = files = accepted = 0
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for catalog in sorted(given.catalogs.glob("*.mo")):
            template = Path(folder) / f"{catalog.stem}.po"
            if not (count := write_template(catalog, template, given.messages - messages, translator.card.target)):
                continue
            done = translate_document(translator, template, template.with_suffix(".new.po"))
            messages += count
            files += 1
            for segment, outcome in zip(done.segments, done.outcomes, strict=True):
                states[outcome.state] += 1
                right += placeholders(str(segment.content[0])) == placeholders(outcome.text)
            check = ["msgfmt", "--check", "-o", "/dev/null", str(done.target)]
            accepted += subprocess.run(check, capture_output=True, check=False).returncode == 0
            if messages >= given.messages:
                break
    print(f"{messages:,} messages with placeholders of {files} catalogs in {time.monotonic() - begin:.0f} s")
    print(f"  every placeholder exactly once: {right:,} ({right / max(1, messages):.2%})")
    print(f"  accepted by msgfmt --check: {accepted} of {files} files")
    print("  " + ", ".join(f"{count:,} {state}" for state, count in states.most_common()))


def write_template(catalog: Path, path: Path, most: int, target: str) -> int:
    """The catalog's messages that have placeholders, once each, untranslated, as `c-format` where they have `%`."""
    reading = Reading(source="en", target="de")
    texts = dict.fromkeys(pair.source for pair in read_pairs(catalog, reading) if find(pair.source))
    entries = [f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"Language: {target}\\n"\n']
    for text in list(texts)[: max(0, most)]:
        quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        flag = "#, c-format\n" if any(each.kind == "printf" for each in find(text)) else ""
        entries.append(f'{flag}msgid "{quoted}"\nmsgstr ""\n')
    path.write_text("\n".join(entries), encoding="utf-8")
    return len(entries) - 1


def placeholders(text: str) -> Counter[str]:
    """References such as `&amp;` are characters, which a translation may do without."""
    return Counter(each.text for each in find(text) if each.kind != "entity")


if __name__ == "__main__":
    main()
