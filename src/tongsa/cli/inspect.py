"""`tongsa inspect`"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tongsa.base.errors import UsageError
from tongsa.cli.options import Directory, MachineOptions, grouped

if TYPE_CHECKING:
    from tongsa.engines.inspection import Inspection, Kind
    from tongsa.translation.translator import Translator

KINDS = {"encoder-decoder": "cross", "encoder": "encoder", "decoder": "decoder"}
FORMATS = (".html", ".png", ".svg")


@grouped
def inspect(
    directory: Directory,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Sentence to translate and inspect.")],
    to_text: Annotated[
        str | None, typer.Option("--to-text", help="Inspect this translation instead of the model's own.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write a page (.html) or a picture (.png, .svg).")
    ] = None,
    experiments: Annotated[
        bool,
        typer.Option("--experiments", help="Page: add heads switched off, the beam search and the checkpoints."),
    ] = False,
    kind: Annotated[str, typer.Option("--kind", help="encoder-decoder, encoder or decoder.")] = "encoder-decoder",
    layer: Annotated[int | None, typer.Option("--layer", help="Layer, from 1 (by default the clearest one).")] = None,
    head: Annotated[int | None, typer.Option("--head", help="Head, from 1 (by default the mean of all heads).")] = None,
    *,
    machine: MachineOptions,
) -> None:
    """Show what a translator attends to: in the terminal, as a page to explore, or as a picture.

    Examples:  tongsa inspect runs/en-de "Two dogs."      tongsa inspect runs/en-de "Two dogs." --out attention.html
    """
    if kind not in KINDS:
        raise UsageError(f"unknown kind of attention: {kind}", f"Kinds: {', '.join(KINDS)}")
    suffix = out.suffix.lower() if out else ""
    if out and suffix not in FORMATS:
        raise UsageError(f"{out}: the name must end in {', '.join(FORMATS)}")
    if experiments and suffix != ".html":
        raise UsageError("--experiments are part of a page", "Add:  --out attention.html")
    from tongsa.translation.translator import Translator

    translator = Translator.load(directory, engine="native", threads=machine.threads, device=machine.device)
    seen = translator.inspect(text, to_text)
    if not seen.kinds():
        raise UsageError(
            f"{directory}: the architecture {seen.facts.architecture} gives no attention weights",
            "A transformer has all kinds; gru-attention, lstm-attention and convs2s have encoder-decoder attention.",
        )
    if out is None:
        _print(seen, *_choice(seen, kind, layer, head))
        return
    from tongsa.base.files import write_atomically

    if suffix == ".html":
        from tongsa.pages.attention import page

        stored = _experiments(translator, directory, text, seen) if experiments else None
        write_atomically(out, page(seen, stored))
    else:
        from tongsa.pages import attention_picture as picture

        write_atomically(out, picture.draw(seen, *_choice(seen, kind, layer, head), suffix[1:]))
    print(out)


def _experiments(translator: Translator, directory: Path, text: str, seen: Inspection) -> dict[str, object]:
    from tongsa.lab.teaching import stored_experiments
    from tongsa.pages.attention import sentence
    from tongsa.runs.directory import Run
    from tongsa.runs.names import find_translator

    return stored_experiments(translator, Run(find_translator(directory)), text, sentence(seen.target_tokens))


def _choice(seen: Inspection, name: str, layer: int | None, head: int | None) -> tuple[Kind, int, int | None]:
    found = {kind.name: kind for kind in seen.kinds()}
    if KINDS[name] not in found:
        has = ", ".join(name for name, short in KINDS.items() if short in found)
        raise UsageError(f"the architecture {seen.facts.architecture} has no {name} attention", f"It has: {has}")
    kind = found[KINDS[name]]
    if layer is not None and not 1 <= layer <= len(kind.layers):
        raise UsageError(f"there is no layer {layer}", f"Layers: 1 to {len(kind.layers)}")
    chosen = kind.sharpest() if layer is None else layer - 1
    heads = len(kind.layers[chosen])
    if head is not None and not 1 <= head <= heads:
        raise UsageError(f"there is no head {head}", f"Heads of layer {chosen + 1}: 1 to {heads}")
    return kind, chosen, (0 if heads == 1 else None) if head is None else head - 1


def _print(seen: Inspection, kind: Kind, layer: int, head: int | None) -> None:
    from rich.console import Console

    from tongsa.pages import attention_terminal as terminal
    from tongsa.pages.attention import sentence

    console = Console(highlight=False)
    console.print(sentence(seen.source_tokens), markup=False, style="bold")
    console.print(sentence(seen.target_tokens), markup=False)
    console.print()
    terminal.draw(kind, layer, head, console)
