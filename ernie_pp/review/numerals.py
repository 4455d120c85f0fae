"""Numbers as Chinese business text writes them: 壹佰万, 二千零五, 1,000.5, 1亿2,000万."""

from __future__ import annotations

import re
from decimal import Decimal

_DIGITS = {
    char: value
    for value, chars in enumerate(
        ("零〇○", "一壹弌", "二贰貳弍两兩", "三叁參叄弎", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")
    )
    for char in chars
}
_TENS = {"廿": 20, "卅": 30, "卌": 40}
_SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
# Every character a number in Chinese digits can have.
CHINESE_NUMERALS = "".join((*_DIGITS, *_TENS, *_SMALL, *_LARGE))

_FIGURE = r"(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)(?:\.[0-9]+)?"
_TERM = re.compile(rf"({_FIGURE})([{''.join(_SMALL)}]?)([{''.join(_LARGE)}]{{0,2}})")
_MAX_LENGTH = 40  # far beyond any amount


def parse_number(text: str) -> Decimal | None:
    """The value of a number that is the whole text, in Arabic or in Chinese digits; None where it is not certain.

    Not certain are, among others, 一百五 (105 or 150), 1万5, 壹零零, 1,00 and 1.2亿3千万.
    """
    if not text or len(text) > _MAX_LENGTH:
        return None
    if text[0].isascii() and text[0].isdigit():
        return _parse_figures(text)
    whole, point, decimals = text.partition("点")
    if point:
        return _parse_pointed(whole, decimals)
    value = parse_chinese(text)
    return None if value is None else Decimal(value)


def parse_chinese(text: str) -> int | None:
    """The value of a whole number in Chinese digits with its units; None where it is not certain."""
    for mark in ("亿億", "万萬"):
        place = max(text.rfind(mark[0]), text.rfind(mark[1]))
        if place >= 0:
            return _parse_large(text[:place], text[place + 1 :], unit=_LARGE[mark[0]])
    return _parse_section(text, is_lower=False)


def read_digits(text: str) -> str | None:
    """Digits written one by one, Chinese or Arabic (二〇一八), as Arabic ones; None where another character is."""
    found = [char if char.isascii() and char.isdigit() else _DIGITS.get(char) for char in text]
    return None if None in found else "".join(map(str, found))


def _parse_large(upper: str, lower: str, *, unit: int) -> int | None:
    """`upper` times the unit plus what follows, which must be smaller than the unit."""
    above = parse_chinese(upper)
    if above is None or above == 0 or (unit == 10**4 and above >= 10**4):
        return None
    if not lower:
        return above * unit
    # 一亿五万 is certain, 一万五 is not.
    below = (
        parse_chinese(lower)
        if lower[-1] in _LARGE or set(lower) & set(_LARGE)
        else _parse_section(lower, is_lower=True)
    )
    return None if below is None or below >= unit else above * unit + below


def _parse_section(text: str, *, is_lower: bool) -> int | None:
    """A number below 10,000; `is_lower`: it stands behind 万 or 亿, so that a bare digit needs a 零 before it."""
    total, last_unit, digit, zero = 0, 10**5 if is_lower else 0, None, False
    for char in text:
        if char in _TENS:
            if digit is not None or (last_unit and last_unit <= 10):
                return None
            total, last_unit, zero = total + _TENS[char], 10, False
        elif char in _SMALL:
            unit = _SMALL[char]
            # 十五 and 一百十五 leave the one out; 百五 is no number.
            count = digit if digit is not None else 1 if unit == 10 else None
            if count is None or count == 0 or (last_unit and unit >= last_unit):
                return None
            total, last_unit, digit, zero = total + count * unit, unit, None, False
        elif _DIGITS.get(char) == 0 and (text != char) and digit is None:
            zero = True
        elif char in _DIGITS and digit is None:
            digit = _DIGITS[char]
        else:
            return None
    if digit is None:
        return None if zero or not text else total
    return total + digit if last_unit <= 10 or zero else None


def _parse_pointed(whole: str, decimals: str) -> Decimal | None:
    """一点五亿: digits behind the point one by one, then a unit."""
    unit = 1
    while decimals and decimals[-1] in _LARGE:
        unit *= _LARGE[decimals[-1]]
        decimals = decimals[:-1]
    front, behind = parse_chinese(whole), read_digits(decimals) if decimals else None
    if front is None or behind is None:
        return None
    return Decimal(f"{front}.{behind}") * unit


def _parse_figures(text: str) -> Decimal | None:
    """1,000.5, 5千万, 1亿2,000万: terms with falling units, each smaller than the unit before it."""
    total, before, end = Decimal(0), None, 0
    while end < len(text):
        match = _TERM.match(text, end)
        if match is None:
            return None
        unit = _SMALL.get(match[2], 1)
        for large in match[3]:
            unit *= _LARGE[large]
        if not _fits(match[1], unit, before):
            return None
        figure = match[1].replace(",", "")
        # A fraction of a term that another one follows would overlap with it.
        before, end = (unit if "." not in figure else 0), match.end()
        total += Decimal(figure) * unit
    return total


def _fits(figure: str, unit: int, before: int | None) -> bool:
    """Whether a term may stand behind one of the unit `before` (None: it is the first)."""
    whole = figure.replace(",", "").partition(".")[0]
    if before is None:
        return whole == "0" or not whole.startswith("0")
    if unit >= before or Decimal(whole) * unit >= before:
        return False
    # 2万5000 and 1万0005 are certain; 1万5 may stand for 15,000.
    return unit > 1 or len(whole) == len(str(before)) - 1
