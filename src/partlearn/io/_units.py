"""Units of numbers in text: money, percent, kilograms."""

# SPDX-License-Identifier: BSD-3-Clause

import re
from collections import Counter
from collections.abc import Sequence

_CURRENCIES = (
    *"$€£¥₹₽₩₺₴฿",
    *("US$", "A$", "C$", "R$", "kr", "zł", "Kč", "Fr", "Rs"),
    *("USD", "EUR", "GBP", "CHF", "JPY", "CNY", "INR", "AUD", "CAD", "SEK", "NOK"),
    *("DKK", "PLN", "CZK", "BRL", "RUB", "KRW", "TRY", "ZAR", "MXN", "HUF"),
)
_UNITS = (
    *("%", "‰", "°", "°c", "°f", "mg", "g", "kg", "t", "lb", "lbs", "oz"),
    *("mm", "cm", "m", "km", "in", "ft", "mi", "ml", "cl", "dl", "l"),
    *("ms", "s", "sec", "min", "h", "hr", "hrs", "d", "day", "days", "yr", "yrs"),
    *("km/h", "m/s", "mph", "kb", "mb", "gb", "tb", "hz", "khz", "mhz", "ghz"),
    *("w", "kw", "kwh", "v", "mv", "ma", "pa", "hpa", "kpa", "bar", "psi", "px"),
    *("m²", "m2", "km²", "m³", "m3", "ppm", "mmhg", "bpm", "kcal", "mmol/l", "mg/dl"),
)
_NUMBER = r"[-+]?\s?\d(?:[\d.,'\u2019\u00a0\u202f ]*\d)?"
_BEFORE = re.compile(
    rf"(?P<sign>[-+]?)(?P<unit>{'|'.join(map(re.escape, _CURRENCIES))})\s?"
    rf"(?P<number>{_NUMBER})"
)
_AFTER = re.compile(rf"(?P<number>{_NUMBER})(?P<space>\s?)(?P<unit>[^\d\s].{{0,11}})")
_ENOUGH = 0.9  # share of cells that have the unit


def find_unit(texts: Sequence[str]) -> str:
    """Return the unit that nearly all of some numbers have; empty where none does.

    Parameters
    ----------
    texts : sequence of str
        Cells, none of them missing.

    Returns
    -------
    unit : str
        A currency before or after the number, a known unit right after it, or the same
        word after a space in all cells.
    """
    units: Counter[str] = Counter()
    spaced: Counter[str] = Counter()
    plain = 0
    for text in texts:
        word = text.strip()
        if match := _BEFORE.fullmatch(word):
            units[match["unit"]] += 1
        elif match := _AFTER.fullmatch(word):
            unit = match["unit"].strip()
            known = unit.lower() in _UNITS or unit in _CURRENCIES
            (units if known else spaced)[unit] += 1
            if not known and not match["space"]:
                return ""
        elif re.fullmatch(_NUMBER, word):
            plain += 1
    if spaced and not units and not plain and len(spaced) == 1:
        units = spaced
    if len(units) != 1:
        return ""
    ((unit, count),) = units.items()
    return unit if count + plain >= _ENOUGH * len(texts) and count else ""


def without_unit(text: str, unit: str) -> str:
    """Text of a number without its unit; other text as it is."""
    word = text.strip()
    if unit in word:
        for pattern in (_BEFORE, _AFTER):
            match = pattern.fullmatch(word)
            if match and match["unit"].strip() == unit:
                sign = match["sign"] if "sign" in match.groupdict() else ""
                return sign + match["number"].replace(" ", "")
    return text
