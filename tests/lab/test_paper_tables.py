"""Tables 2 to 4: the paper's figures come out of its formulas, rows keep its proportions, conclusions are computed."""

from __future__ import annotations

from typing import Any

import pytest

from tongsa.base.errors import UsageError
from tongsa.config import TransformerSection
from tongsa.config.presets import load_recipe
from tongsa.lab.paper import table2, table3, table4
from tongsa.lab.paper.document import cost
from tongsa.lab.paper.published import GPUS, HOURS, TABLE_2, TABLE_3, TABLE_4, TFLOPS, training_cost
from tongsa.lab.paper.table3 import BASE, CLAIMS, Table3Options, agreement, draw_table_3, rank_correlation, row_recipe


def test_the_training_costs_of_table_2_come_out_of_its_formula() -> None:
    printed = {system.name: system.cost_en_de for system in TABLE_2}
    for size, name in (("base", "Transformer (base model)"), ("big", "Transformer (big)")):
        computed = training_cost(HOURS[size], GPUS, TFLOPS["P100"])
        assert computed == pytest.approx(printed[name], rel=0.01)
        assert cost(computed) == cost(printed[name])
    assert cost(training_cost(12, 8, 9.5)) == "3.3e18"
    assert cost(training_cost(84, 8, 9.5)) == "2.3e19"


def test_the_rows_that_the_paper_prints_are_all_there() -> None:
    assert len(TABLE_2) == 10
    assert len(TABLE_3) == 20
    assert len(TABLE_4) == 12
    moe = next(system for system in TABLE_2 if system.name == "MoE")
    assert (moe.source, moe.en_de, moe.cost_en_de) == ("Shazeer et al. 2017 [32]", 26.03, 2.0e19)


@pytest.mark.parametrize("scale", [2, 8, 16])
@pytest.mark.parametrize("name", TABLE_3)
def test_a_row_keeps_its_proportions_to_the_base_model_at_every_scale(name: str, scale: int) -> None:
    whole, small = (load_recipe(name, {}).model, row_recipe(name, Table3Options(scale=scale), 1000).model)
    assert isinstance(whole, TransformerSection)
    assert isinstance(small, TransformerSection)
    for key in ("d_model", "d_ff", "key_width", "value_width"):
        assert getattr(small, key) * scale == getattr(whole, key), key
    assert (small.heads, small.dropout, small.positions) == (whole.heads, whole.dropout, whole.positions)
    assert 2 * small.encoder_layers == whole.encoder_layers
    assert not small.problems()


def test_rows_are_trained_as_the_paper_says_without_averaging() -> None:
    recipe = row_recipe("D4", Table3Options(scale=8), 1000)
    assert (recipe.training.average, recipe.training.label_smoothing, recipe.training.warmup) == (1, 0.2, 100)
    wide, base = (row_recipe(name, Table3Options(scale=8), 1000).training.peak for name in ("C5", BASE))
    assert wide == pytest.approx(base / 2**0.5), "Eq. 3: d_model^-0.5"
    paper = row_recipe("A1", Table3Options(scale=1, depth=1), None).training
    assert (paper.schedule, paper.batch_tokens, paper.warmup, paper.average) == ("noam", 25_000, 4000, 1)


def row(bleu: float, perplexity: float = 5.0, **keys: Any) -> table3.Row:
    values = {"parameters": 10**6, "interval": 0.4, "p": 0.01, "seeds": 2, **keys}
    return table3.Row(bleu=bleu, perplexity=perplexity, **values)


PAPERS = {name: row(theirs.bleu, theirs.perplexity) for name, theirs in TABLE_3.items()}


def test_on_the_papers_own_figures_its_conclusions_hold() -> None:
    judged = {claim.text: claim.judged(PAPERS)[0] for claim in CLAIMS}
    assert set(judged.values()) == {"holds"}
    assert "18 of 18 rows" in agreement(PAPERS)  # A3 is as good as base
    assert "1.00" in agreement(PAPERS)


def test_conclusions_turn_when_the_figures_do() -> None:
    turned = {name: row(50 - each.bleu, 10 - (each.perplexity or 0)) for name, each in PAPERS.items()}
    judged = {claim.text: claim.judged(turned)[0] for claim in CLAIMS}
    assert all(found == "does not hold" for text, found in judged.items() if not text.startswith(("(A)", "(E)")))
    assert "0 of 18 rows" in agreement(turned)
    assert "-1.00" in agreement(turned)
    few = {name: PAPERS[name] for name in (BASE, "E")}
    assert [claim.judged(few)[0] for claim in CLAIMS].count("not measured") == 8


def test_table_3_has_the_papers_figures_beside_ours() -> None:
    rows = {BASE: row(20.0, p=None, parameters=2_500_000), "A1": row(18.5, 7.25), "C7": row(20.4, p=0.2)}
    table = draw_table_3(rows, Table3Options(scale=8), ["a note"])
    lines = {line.split("|")[1].strip(): line for line in table.markdown().splitlines() if line.startswith("| ")}
    assert [cell.strip() for cell in lines["A1"].split("|")[2:-1]] == [
        *("heads 1, d_k 64, d_v 64", "1M", "7.25", "18.5 ± 0.4", "-1.5", "0.010*"),
        *("5.29", "24.9", "-0.9", "–"),
    ]
    assert "0.200 " in lines["C7"]
    assert all("a note" in shown for shown in (table.text(), table.markdown(), table.html()))


def test_ranks_of_equal_values_are_shared() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == pytest.approx(1)
    assert rank_correlation([1, 2, 2, 3], [1, 3, 3, 2]) == pytest.approx(
        1 / 3
    )  # ranks 1, 2.5, 2.5, 4 and 1, 3.5, 3.5, 2
    assert rank_correlation([1, 1], [1, 2]) == 0


@pytest.mark.parametrize("keys", [{"scale": 3}, {"depth": 3}, {"rows": ("A9",)}, {"rows": ()}])
def test_rows_and_scales_that_do_not_exist_are_refused(keys: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Table3Options(**keys)


def test_the_base_model_is_always_trained() -> None:
    assert Table3Options(rows=("E", "A1")).names() == [BASE, "A1", "E"]


def test_table_2_names_the_source_of_each_system_and_ours_for_it() -> None:
    rows = {
        "transformer": table2.Row(
            parameters=3_000_000, bleu=30.1, interval=0.5, p=None, tokenised_bleu=30.6, operations=4.2e15, seconds=1200
        )
    }
    shown = table2.draw_table_2(rows, ["a note"]).text()
    for told in ("30.1 ± 0.5", "30.6", "4.2e15", "3.3e18", "2.3e19", "Shazeer et al. 2017 [32]", "lstm-attention"):
        assert told in shown
    assert "12 hours x 8 x 9.5 TFLOPS" in shown


def test_every_recipe_of_table_2_is_there() -> None:
    for name in table2.SYSTEMS.values():
        load_recipe(name, {})
    assert set(table2.SYSTEMS) <= {system.name for system in TABLE_2}


@pytest.mark.parametrize("name", table4.SYSTEMS)
def test_the_parsers_of_table_4_differ_in_architecture_and_linearisation_alone(name: str) -> None:
    recipe, usual = table4.system_recipe(name), load_recipe("parsing", {})
    assert recipe.model.architecture == table4.SYSTEMS[name].architecture
    assert recipe.corpus.linearisation == table4.SYSTEMS[name].linearisation
    assert (recipe.training, recipe.subwords, recipe.model.d_model) == (
        usual.training,
        usual.subwords,
        usual.model.d_model,
    )


def test_table_4_shows_means_over_seeds_and_silver_rows() -> None:
    options = table4.Table4Options(
        trees=("a",), valid=("b",), test="c", silver=("d",), systems=("transformer",), updates=10
    )
    assert options.rows() == ["transformer", "transformer.silver"]
    made = [
        table4.Result(
            f1=f1,
            precision=f1,
            recall=f1,
            complete_match=20,
            well_formed=9,
            sentences=10,
            sentences_per_second=5,
            parameters=10,
            updates=10,
        )
        for f1 in (70.0, 72.0)
    ]
    shown = table4.draw_table_4({"transformer": made, "transformer.silver": made[:1]}, options, []).text()
    for told in ("71.0 ± 1.4", "with silver trees", "18 of 20", "91.3", "Petrov et al. (2006) [29]"):
        assert told in shown
    with pytest.raises(UsageError, match="unknown parser"):
        table4.Table4Options(trees=("a",), valid=(), test="c", systems=("rnn",))
