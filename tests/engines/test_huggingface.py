"""Language models with the real transformers library: the same logits, the same ids, the same continuation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from small_models import save_random
from small_translators import sentences, small_subwords
from tongsa import LanguageModel, MaskedLanguageModel
from tongsa.base.errors import UsageError
from tongsa.config import SubwordsSection
from tongsa.engines.huggingface.export import write_bert, write_gpt2
from tongsa.engines.huggingface.tokenizer import tokenizer_json
from tongsa.models import Decoder, Encoder
from tongsa.models.contracts import NO_MEMORY
from tongsa.runs.directory import Run
from tongsa.text.subwords import learn

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.filterwarnings("ignore")  # of transformers, about packages that it would like to have

LAYERS = {"layers": 2, "d_ff": 48, "heads": 4}
GPT = {"architecture": "decoder-only", "norm": "pre", **LAYERS}
BERT = {"architecture": "bert", "max_positions": 24, **LAYERS}
IDS = [0, 5, 9, 300, 44, 61, 7]


@pytest.mark.parametrize(
    "keys",
    [
        {},
        {"positions": "learned", "max_positions": 16, "activation": "gelu"},
        {"tied": False, "activation": "swish", "scale_embeddings": False},
    ],
    ids=str,
)
def test_gpt2_has_the_same_logits(keys: dict[str, Any], tmp_path: Path) -> None:
    run = Run(save_random(tmp_path / "ours", "lm", {**GPT, **keys}, Decoder))
    write_gpt2(tmp_path / "theirs", run)
    model = LanguageModel.load(run.path, device="cpu")
    read = torch.tensor([[model.vocabulary.pad, *IDS]])
    theirs = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "theirs").eval()
    with torch.inference_mode():
        ours = model.decoder.project(model.decoder.features(NO_MEMORY, read))
        assert (theirs(input_ids=read).logits[..., :-1] - ours).abs().max() < 1e-4


def test_gpt2_continues_a_line_as_ours_does(tmp_path: Path) -> None:
    run = Run(save_random(tmp_path / "ours", "lm", GPT, Decoder))
    write_gpt2(tmp_path / "theirs", run)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "theirs")
    theirs = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "theirs").eval()
    prompt = sentences(1)[0][1]
    written = theirs.generate(**tokenizer(prompt, return_tensors="pt"), max_new_tokens=8, do_sample=False)[0]
    expected = LanguageModel.load(run.path, device="cpu").generate(prompt, tokens=8)[0].line
    assert tokenizer.decode(written, skip_special_tokens=True).strip() == expected


@pytest.mark.parametrize("keys", [{}, {"positions": "sinusoidal"}], ids=str)
def test_bert_has_the_same_logits_with_padding_too(keys: dict[str, Any], tmp_path: Path) -> None:
    run = Run(save_random(tmp_path / "ours", "mlm", {**BERT, **keys}, Encoder, more=2))
    write_bert(tmp_path / "theirs", run)
    model = MaskedLanguageModel.load(run.path, device="cpu")
    tokens = model.tokens
    read = torch.tensor([[tokens.first, 5, tokens.mask, 300, 0], [tokens.first, 9, 0, tokens.pad, tokens.pad]])
    mask = read != tokens.pad
    theirs = transformers.BertForMaskedLM.from_pretrained(tmp_path / "theirs").eval()
    with torch.inference_mode():
        ours = model.model.features(model.model.encode(read, mask)) @ model.model.projection().T
        found = theirs(input_ids=read, attention_mask=mask.long()).logits
    assert (found[mask][:, :-1] - ours[mask][:, :-1]).abs().max() < 1e-4
    assert (found[mask][:, -1] < -1000).all(), "<pad> takes no probability"


def test_berts_tokenizer_puts_its_tokens_around_a_text(tmp_path: Path) -> None:
    run = Run(save_random(tmp_path / "ours", "mlm", BERT, Encoder, more=2))
    write_bert(tmp_path / "theirs", run)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "theirs")
    model = MaskedLanguageModel.load(run.path, device="cpu")
    text = sentences(1)[0][1]
    assert tokenizer(text)["input_ids"] == [model.tokens.first, *model.vocabulary.encode(text), 0]
    assert tokenizer.mask_token_id == model.tokens.mask
    assert tokenizer.pad_token_id == model.tokens.pad


@pytest.mark.parametrize("kind", ["bpe", "unigram", "char", "word", "byte"])
def test_the_tokenizer_gives_the_ids_of_sentencepiece(kind: Any) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    texts = [text for pair in sentences(200) for text in pair]
    section = SubwordsSection(kind=kind, size=2000 if kind == "word" else 700, byte_fallback=kind != "word")
    vocabulary = small_subwords().target if kind == "bpe" else learn(texts, section, threads=1)
    written = tokenizer_json(vocabulary, ["<pad>"], before=[vocabulary.pad])
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(written))
    others = ["a b  c".replace("  ", " "), "Größe, naïve 漢字 🙂", "1,234.5 (x)"] if kind != "word" else []
    for text in [*texts[:100], *others]:
        assert tokenizer.encode(text).ids == [vocabulary.pad, *vocabulary.encode(text)], text
        if kind != "word":
            assert tokenizer.decode(tokenizer.encode(text).ids) == text


def test_a_model_that_a_layout_cannot_hold_is_told_with_all_reasons(tmp_path: Path) -> None:
    post = Run(
        save_random(tmp_path / "post", "lm", {**GPT, "norm": "post", "d_k": 3, "attention": "additive"}, Decoder)
    )
    with pytest.raises(UsageError, match="GPT-2 cannot hold this model") as refused:
        write_gpt2(tmp_path / "out", post)
    assert len(refused.value.explanation) == 3
    with pytest.raises(UsageError, match="BERT cannot hold decoder-only, trained for lm"):
        write_bert(tmp_path / "out", post)
    relu = Run(save_random(tmp_path / "relu", "mlm", {**BERT, "activation": "relu"}, Encoder, more=2))
    with pytest.raises(UsageError, match="BERT cannot hold this model"):
        write_bert(tmp_path / "out", relu)
    assert not (tmp_path / "out").exists()
