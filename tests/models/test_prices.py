"""What calls cost: exact, by kind of token, from a table that is kept with the run."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.records import Usage
from pytest_skillevo.models import prices
from pytest_skillevo.models.prices import Price, Rates, bundled_price, own_prices

D = Decimal


@pytest.fixture
def bundled(monkeypatch):
    """Put this table in the place of LiteLLM's."""

    def put(table):
        text = json.dumps(table)
        monkeypatch.setattr(prices, "_bundled", lambda: json.loads(text, parse_float=Decimal))

    return put


@pytest.mark.parametrize(
    ("usage", "usd"),
    [
        (Usage(1_000_000, 0, 0, 0), "2"),
        (Usage(0, 1_000_000, 0, 0), "8"),
        (Usage(1_000_000, 0, 400_000, 0), "1.4"),  # 600k at 2, 400k at 0.5
        (Usage(1_000_000, 0, None, None), "2"),  # uncounted cached tokens are paid in full
        (Usage(0, 1_000_000, 0, 500_000), "10"),  # 500k at 8, 500k at 12
        (Usage(1, 0, 0, 0), "0.000002"),
        (Usage(1, None, 0, 0), None),
        (Usage(), None),
    ],
)
def test_each_kind_of_token_has_its_rate(usage, usd):
    price = Price((Rates(D(2), D(8), cached=D("0.5"), reasoning=D(12)),), "test")
    assert price.of(usage) == (None if usd is None else D(usd))


def test_kinds_without_a_rate_cost_what_their_neighbours_cost():
    assert Price((Rates(D(2), D(8)),), "test").of(Usage(1_000_000, 1_000_000, 500_000, 500_000)) == D(10)


def test_long_requests_have_rates_of_their_own():
    price = Price((Rates(D(1), D(1)), Rates(D(3), D(1), above=200_000)), "test")
    assert price.of(Usage(200_000, 0, 0, 0)) == D("0.2")
    assert price.of(Usage(200_001, 0, 0, 0)) == D("0.600003")


def test_small_amounts_are_written_without_an_exponent():
    usage = Usage(1, 1, 0, 0, Price((Rates(D("0.01"), D("0.01")),), "test").of(Usage(1, 1, 0, 0)))
    assert usage.to_json()["usd"] == "0.00000002"
    assert Usage.from_json(usage.to_json()) == usage


def test_the_bundled_table_is_found_with_and_without_the_provider(bundled):
    bundled(
        {
            "gpt-4o": {
                "litellm_provider": "openai",
                "input_cost_per_token": 2.5e-06,
                "output_cost_per_token": 1e-05,
                "cache_read_input_token_cost": 1.25e-06,
                "input_cost_per_token_above_200k_tokens": 5e-06,
            }
        }
    )
    rates = (Rates(D("2.5"), D(10), D("1.25")), Rates(D(5), D(10), D("1.25"), above=200_000))
    for name in ("gpt-4o", "openai/gpt-4o"):
        price = bundled_price(name)
        assert price is not None
        assert price.rates == rates
    assert bundled_price("azure/gpt-4o") is None


@pytest.mark.parametrize(
    "entry",
    [
        {"input_cost_per_token": 0.0, "output_cost_per_token": 0.0},  # tables say 0 for what they do not know
        {"input_cost_per_token": 1e-06},
        {"input_cost_per_second": 1e-06, "output_cost_per_second": 1e-06},
    ],
)
def test_half_a_price_and_a_price_of_zero_are_none(bundled, entry):
    bundled({"m": entry})
    assert bundled_price("m") is None


def test_the_table_of_the_installed_litellm_prices_the_usual_models():
    for name in ("openai/gpt-4o", "gemini/gemini-2.5-pro"):
        price = bundled_price(name)
        assert price is not None
        assert price.source.startswith("litellm 1.")


def test_a_table_of_ones_own_is_read_exactly(tmp_path):
    table = tmp_path / "prices.toml"
    table.write_text('["openai/mine"]\ninput = 0.15\noutput = "0.60"\ncached = 0\n', encoding="utf-8")
    assert own_prices(table) == {"openai/mine": Price((Rates(D("0.15"), D("0.60"), cached=D(0)),), "prices.toml")}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('["m"]\ninput = 1\n', "'m': output is missing"),
        ('["m"]\ninput = 1\noutput = -2\n', "output must be an amount of US dollars"),
        ('["m"]\ninput = 1\noutput = nan\n', "output must be an amount"),
        ('["m"]\ninput = 1\noutput = "cheap"\n', "output must be an amount"),
        ('["m"]\ninput = 1\noutput = 2\nin = 3\n', "in is none of input, output, cached, reasoning"),
        ("m = 3\n", "write a table"),
        ("[m\n", "is no TOML"),
    ],
)
def test_a_wrong_table_is_refused_with_its_place(tmp_path, text, words):
    table = tmp_path / "prices.toml"
    table.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=words) as caught:
        own_prices(table)
    assert str(table) in str(caught.value)
