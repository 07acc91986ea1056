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
_SCALES = {"k": 1e3, "K": 1e3, "M": 1e6, "bn": 1e9, "B": 1e9}
SCALED = "k, M or bn"  # the unit of numbers such as 14.2k and 3M
_SCALED = re.compile(rf"(?P<number>{_NUMBER})(?P<scale>k|K|M|bn)")  # 3B may be a room
_BEFORE = re.compile(
    rf"(?P<sign>[-+]?)(?P<unit>{'|'.join(map(re.escape, _CURRENCIES))})\s?"
    rf"(?P<number>{_NUMBER})(?P<scale>k|K|M|bn|B)?"
)
_AFTER = re.compile(rf"(?P<number>{_NUMBER})(?P<space>\s?)(?P<unit>[^\d\s].{{0,11}})")
# (1,422) and $(1,422) are negative in accounts.
_IN_PARENTHESES = re.compile(r"([^\d()]{0,4})\(([^()]*\d[^()]*)\)")
_ENOUGH = 0.9  # share of cells that have the unit


def signed(text: str) -> str:
    """Write a number in parentheses, as accounts write negative ones, with a minus."""
    match = _IN_PARENTHESES.fullmatch(text.strip())
    return f"-{match[1]}{match[2]}" if match else text


def find_unit(texts: Sequence[str]) -> str:
    """Return the unit of at least nine in ten numbers, or an empty string.

    Parameters
    ----------
    texts : sequence of str
        Cells, none of them missing.

    Returns
    -------
    unit : str
        A currency before or after the number, a known unit right after it, the same
        word after a space in all cells, or :data:`SCALED` for numbers such as 14.2k.
    """
    units: Counter[str] = Counter()
    spaced: Counter[str] = Counter()
    plain = 0
    for text in texts:
        word = signed(text).strip()
        if match := _BEFORE.fullmatch(word):
            units[match["unit"]] += 1
        elif _SCALED.fullmatch(word):
            units[SCALED] += 1
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


def split_unit(text: str | None, unit: str) -> tuple[str | None, float]:
    """Return the text of a number without its unit, and the power of ten after it.

    Text without this unit is returned as it is.
    """
    if text is None:
        return None, 1.0
    word = signed(text).strip()
    if unit == SCALED and (match := _SCALED.fullmatch(word)):
        return match["number"].replace(" ", ""), _SCALES[match["scale"]]
    for pattern in (_BEFORE, _AFTER) if unit in word else ():
        match = pattern.fullmatch(word)
        if match and match["unit"].strip() == unit:
            parts = match.groupdict()
            number = parts.get("sign", "") + match["number"].replace(" ", "")
            return number, _SCALES.get(parts.get("scale") or "", 1.0)
    return text, 1.0
