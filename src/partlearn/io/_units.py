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
# (1,422) and $(1,422) are negative in accounts, 1422- in lists of some programs.
_IN_PARENTHESES = re.compile(r"([^\d()]{0,4})\(([^()]*\d[^()]*)\)")
_MINUS_BEHIND = re.compile(r"(\d[\d.,]*)-")
# Signs of typesetting, and digits and marks of Arabic, Persian, Hindi, Bengali, Thai
# and wide numbers.
_ASCII = str.maketrans("\u2212\uff0d\uff0b\uff0e\uff0c\u066b\u066c", "--+.,.,") | {
    zero + digit: str(digit)
    for zero in (0x660, 0x6F0, 0x966, 0x9E6, 0xE50, 0xFF10)
    for digit in range(10)
}
_DASH = re.compile(r"[\u2012\u2013](?=[\d.,])")
_ENOUGH = 0.9  # share of cells that have the unit


def signed(text: str) -> str:
    """Write the sign and the marks of a number as programs write them.

    Numbers in parentheses are negative, as in accounts.
    """
    if not text.isascii():
        text = text.translate(_ASCII)
        text = text if _DASH.match(text.lstrip()) is None else f"-{text.lstrip()[1:]}"
    word = text.strip()
    if match := _IN_PARENTHESES.fullmatch(word):
        return f"-{match[1]}{match[2]}"
    return f"-{match[1]}" if (match := _MINUS_BEHIND.fullmatch(word)) else text


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
