"""Figures: rounded as people round, on the right side of their limits, and never a 0 that nobody measured."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_skillevo.report import figures


@pytest.mark.parametrize(
    "form",
    [
        figures.score,
        figures.change,
        figures.ratio,
        figures.count,
        figures.compact,
        figures.money,
        figures.interval,
        figures.upper_percent,
    ],
)
def test_an_unknown_figure_is_called_unknown(form):
    assert form(None) == "unknown"


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (figures.score(0.125), "0.13"),
        (figures.score(0.005), "0.01"),
        (figures.score(1), "1.00"),
        (figures.change(0.123), "+0.12"),
        (figures.change(-0.123), "-0.12"),
        (figures.change(-0.004), "-0.004"),
        (figures.change(1e-9), "0.00"),
        (figures.change(0.0), "0.00"),
        (figures.ratio(0.8571), "x0.86"),
        (figures.ratio(0.998), "x0.998"),
        (figures.ratio(1.0), "x1.00"),
        (figures.count(48100.4), "48,100"),
        (figures.count(0), "0"),
        (figures.compact(9876), "9,876"),
        (figures.compact(123_456), "123k"),
        (figures.compact(1_249_000), "1.2M"),
        (figures.compact(999_999), "1.0M"),
        (figures.interval((0.07, 0.17)), "[+0.07, +0.17]"),
        (figures.interval((0.0, 0.0034)), "[0.00, +0.003]"),
        (figures.interval((0.8, 0.9962), "plain"), "[0.80, 0.996]"),
        (figures.upper_percent(0.095), "10 %"),
        (figures.upper_percent(0.1), "10 %"),
        (figures.upper_percent(0.1001), "11 %"),
        (figures.some(1, "case"), "1 case"),
        (figures.some(1200, "case"), "1,200 cases"),
        (figures.duration(40.4), "0:40"),
        (figures.duration(3723), "1:02:03"),
        (figures.duration(-5), "0:00"),
    ],
)
def test_figures_read_as_they_do_on_the_screens(shown, wanted):
    assert shown == wanted


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        (Decimal("3.1"), "3.10 USD"),
        ("1234.565", "1,234.57 USD"),
        ("0", "0 USD"),
        ("0.00042", "0.00042 USD"),
        ("1E-7", "0.0000001 USD"),
        ("12345678901234567890.01", "12,345,678,901,234,567,890.01 USD"),
    ],
)
def test_money_is_decimal_to_the_last_digit(usd, shown):
    assert figures.money(usd) == shown
