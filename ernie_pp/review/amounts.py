"""Amounts of money in words or figures, as exact numbers with their currency."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from ernie_pp.review.numerals import CHINESE_NUMERALS, parse_number
from ernie_pp.text.normalize import Normalization, normalize

_CURRENCIES = {
    "CNY": ("人民币", "RMB", "CNY", "CN¥", "¥", "￥"),
    "USD": ("美元", "美金", "美圆", "USD", "US$"),
    "HKD": ("港元", "港币", "港幣", "港圆", "HKD", "HK$"),
    "EUR": ("欧元", "歐元", "EUR", "€"),
    "JPY": ("日元", "日圆", "日圓", "JPY"),
    "GBP": ("英镑", "英鎊", "GBP", "£"),
    "AUD": ("澳元", "澳大利亚元", "AUD", "A$"),
    "CAD": ("加元", "加拿大元", "CAD", "C$"),
    "SGD": ("新加坡元", "新元", "坡币", "SGD", "S$"),
    "TWD": ("新台币", "新臺幣", "台币", "TWD", "NT$"),
    "MOP": ("澳门元", "澳门币", "MOP"),
    "KRW": ("韩元", "韩币", "KRW", "₩"),
    "CHF": ("瑞士法郎", "CHF"),
    "RUB": ("卢布", "RUB"),
    "THB": ("泰铢", "THB"),
    "IDR": ("印尼盾", "IDR"),
    "VND": ("越南盾", "VND"),
    "MYR": ("林吉特", "马来西亚令吉", "MYR"),
    "INR": ("印度卢比", "INR"),
}
_CODES = {name: code for code, names in _CURRENCIES.items() for name in names}
_CURRENCY = re.compile("|".join(sorted(map(re.escape, _CODES), key=len, reverse=True)), re.IGNORECASE)
# What may stand before an amount without making it another one; 不超过 and 每月 would.
_IDLE = re.compile(r"^(?:约为|约合|约|大约|共计|合计|总计|总额|计)|(?:含税价?|不含税价?|含增值税|不含增值税)$")
# Borders between two ways of writing the same amount; a comma between digits is none.
_BORDER = re.compile(r"[()\[\]【】〔〕;、:/]|(?<![0-9]),|,(?![0-9])|大写|小写|即")
_NUMBER = rf"[0-9.,{CHINESE_NUMERALS}点]"
_SMALL_PART = rf"[0-9{CHINESE_NUMERALS}]"
_AMOUNT = re.compile(
    rf"(?P<number>{_NUMBER}+)?(?P<yuan>[元圆圓块])?"
    rf"零?(?:(?P<jiao>{_SMALL_PART})角)?零?(?:(?P<fen>{_SMALL_PART})分)?(?:(?P<li>{_SMALL_PART})厘)?[整正]?"
)
_TIGHT = Normalization(width=True, blanks=True, invisible=True)
_PARTS = (("jiao", Decimal("0.1")), ("fen", Decimal("0.01")), ("li", Decimal("0.001")))
_MAX_LENGTH = 200


@dataclass(frozen=True)
class Amount:
    """So many of the currency's main unit; `currency` is its ISO 4217 code."""

    value: Decimal
    currency: str = "CNY"

    def __str__(self) -> str:
        """`1000000.00` for yuan, `USD 5000.00` for others: two decimals, or more where the amount has more."""
        exponent = self.value.normalize().as_tuple().exponent
        digits = max(2, -exponent) if isinstance(exponent, int) else 2
        figures = f"{self.value:.{digits}f}"
        return figures if self.currency == "CNY" else f"{self.currency} {figures}"


def parse_amount(text: str) -> Amount | None:
    """The amount that the whole text writes, once or in words and in figures; None where it is not certain.

    A figure alone (6,718.15) may be of 元 or of 万元, and is none; neither is a rate (元/月), a bound (不超过…), a
    bare $ or two ways of writing that do not agree.
    """
    if len(text) > _MAX_LENGTH:
        return None
    plain = normalize(text, _TIGHT).text.strip()
    if re.search(r"[0-9] [0-9]", plain):
        return None  # one number or two
    written = [_Written.read(part) for part in _split(plain.replace(" ", ""))]
    if not written or None in written:
        return None
    found = [one for one in written if one is not None]
    return _agree([one for one in found if one.value is not None], {one.currency for one in found} - {None})


@dataclass(frozen=True)
class _Written:
    """One way of writing: a value, a currency or both; `is_money`: it has 元, 万, 亿 or a currency."""

    value: Decimal | None
    currency: str | None
    is_money: bool

    @classmethod
    def read(cls, part: str) -> _Written | None:
        """None for a part that is neither an amount nor a currency."""
        codes = {_CODES.get(match[0], _CODES.get(match[0].upper())) for match in _CURRENCY.finditer(part)}
        if len(codes) > 1:
            return None
        code = next(iter(codes), None)
        rest = _IDLE.sub("", _IDLE.sub("", _without_currency(part)))
        if not rest:
            return cls(None, code, code is not None)
        match = _AMOUNT.fullmatch(rest)
        value = None if match is None else _value_of(match, has_currency=code is not None)
        if match is None or value is None:
            return None
        has_unit = match["yuan"] is not None or (match["number"] or "").endswith(("万", "萬", "亿", "億"))
        return cls(value, code, code is not None or has_unit)


def _split(plain: str) -> list[str]:
    return [part for part in _BORDER.split(plain) if part.strip("-。.,")]


def _without_currency(part: str) -> str:
    """The part without currencies at its two ends; one in the middle stays, and makes it no amount."""
    part = re.sub(rf"^(?:约为|约)?(?:{_CURRENCY.pattern})+", "", part, flags=re.IGNORECASE)
    return re.sub(rf"(?:{_CURRENCY.pattern})([整正]?)$", r"\1", part, flags=re.IGNORECASE)


def _value_of(match: re.Match[str], *, has_currency: bool) -> Decimal | None:
    has_small = any(match[name] for name, _ in _PARTS)
    if match["number"] is None:
        # 伍角 alone may be a corner or a mark; 人民币伍角 is money.
        total = Decimal(0) if has_small and has_currency and not match["yuan"] else None
    elif has_small and not match["yuan"]:
        return None
    else:
        total = parse_number(match["number"])
    for name, unit in _PARTS:
        if match[name] and total is not None:
            count = parse_number(match[name])
            total = total + count * unit if count is not None and count < 10 else None
    return total


def _agree(values: list[_Written], codes: set[str | None]) -> Amount | None:
    """The one amount that all ways of writing mean."""
    if len({one.value for one in values}) != 1 or len(codes) > 1:
        return None
    value = values[0].value
    if value is None or not (codes or any(one.is_money for one in values)):
        return None
    return Amount(value, next(iter(codes)) or "CNY" if codes else "CNY")
