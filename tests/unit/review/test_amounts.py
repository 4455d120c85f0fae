"""Amounts as contracts write them become exact numbers, and what is not certain becomes none."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ernie_pp.review.amounts import Amount, parse_amount

CERTAIN = {
    "壹佰万元整": "1000000",
    "人民币贰仟叁佰肆拾伍元陆角柒分": "2345.67",
    "1,000,000.00元": "1000000",
    "100万元": "1000000",
    "1.2亿元": "120000000",
    "￥5,000": "5000",
    "人民币（大写）壹佰万元整（小写：¥1,000,000.00）": "1000000",
    "大写：壹佰万元整，小写：￥1,000,000.00": "1000000",
    "￥1,000,000.00元（大写：壹佰万元整）": "1000000",
    "人民币陆仟柒佰壹拾捌万壹仟伍佰壹拾元整(6718.151万元)": "67181510",
    "１，０００，０００．００元": "1000000",
    "1亿2,000万": "120000000",
    "1亿2,000万元": "120000000",
    "2万5千元": "25000",
    "2万5000元": "25000",
    "一点五亿元": "150000000",
    "拾万元": "100000",
    "壹拾万圆正": "100000",
    "肆拾萬圓整": "400000",
    "廿万元": "200000",
    "壹佰卅伍元": "135",
    "壹佰万零伍拾元整": "1000050",
    "壹亿零伍佰万元": "105000000",
    "贰佰零伍万叁仟元零伍分": "2053000.05",
    "一万零五元": "10005",
    "一百十五元": "115",
    "人民币伍角整": "0.5",
    "三元五角": "3.5",
    "人民币 壹佰万\n元整": "1000000",
    "人民币1,000,000.00元（含税）": "1000000",
    "约2.8亿元": "280000000",
    "104818万元人民币": "1048180000",
    "RMB100万": "1000000",
    "0.5元": "0.5",
    "零元整": "0",
}
FOREIGN = {
    "5,000美元": ("5000", "USD"),
    "USD 5,000": ("5000", "USD"),
    "US$1.5万": ("15000", "USD"),
    "美金伍万元整": ("50000", "USD"),
    "港币100万元": ("1000000", "HKD"),
    "€300": ("300", "EUR"),
    "5000日元": ("5000", "JPY"),
    "6730亿印尼盾": ("673000000000", "IDR"),
}
NONE = [
    "",
    " ",
    "元",
    "万元",
    "人民币",
    "整",
    "详见附件",
    "甲方",
    "100",
    "6,718.151",
    "100%",
    "1000股",
    "一百五元",
    "一万五元",
    "1万5元",
    "壹零零元",
    "佰万元",
    "三四百元",
    "1亿0万2千亿元",
    "1,00元",
    "1,0000元",
    "007元",
    "1.2.3元",
    "1.5万3千元",
    "1 000元",
    "12 5元",
    "5000元/月",
    "不超过500万元",
    "100余万元",
    "500万元以上",
    "-5元",
    "100万元至200万元",
    "5000元、6000元",
    "￥1,000,000.00（大写：壹佰零壹万元整）",
    "人民币100美元",
    "$500",
    "5分",
    "五角",
    "元" * 300,
]
_DIGITS = "零壹贰叁肆伍陆柒捌玖"


@pytest.mark.parametrize("text", CERTAIN)
def test_an_amount_is_read_to_yuan(text):
    assert parse_amount(text) == Amount(Decimal(CERTAIN[text]))


@pytest.mark.parametrize("text", FOREIGN)
def test_another_currency_is_kept_apart(text):
    value, currency = FOREIGN[text]
    assert parse_amount(text) == Amount(Decimal(value), currency)


@pytest.mark.parametrize("text", NONE)
def test_what_is_not_certain_is_no_amount(text):
    assert parse_amount(text) is None


def test_an_amount_is_shown_with_two_decimals_or_as_many_as_it_has():
    assert [str(parse_amount(text)) for text in ("1.2亿元", "1.005元", "5,000美元", "10元")] == [
        "120000000.00",
        "1.005",
        "USD 5000.00",
        "10.00",
    ]


def _section(number):
    """A number below 10,000 in words, without a leading 零."""
    words, zero = "", False
    for unit, name in ((1000, "仟"), (100, "佰"), (10, "拾"), (1, "")):
        digit = number // unit % 10
        if digit:
            words += ("零" if zero and words else "") + _DIGITS[digit] + name
        zero = digit == 0
    return words


def write_in_words(cents):
    """An amount in 大写 by the banks' rules."""
    yuan, words, before = cents // 100, "", 0
    for unit, name in ((10**8, "亿"), (10**4, "万"), (1, "")):
        section = yuan // unit % 10000
        if section:
            gap = words and (section < 1000 or before == 0)
            words += ("零" if gap else "") + _section(section) + name
        before = section
    words = (words or "零") + "元"
    jiao, fen = cents // 10 % 10, cents % 10
    words += f"{_DIGITS[jiao]}角" if jiao else "零" if fen else ""
    return words + (f"{_DIGITS[fen]}分" if fen else "整")


@given(st.integers(0, 10**14 - 1))
def test_an_amount_in_words_comes_back(cents):
    expected = Amount(Decimal(cents) / 100)
    assert parse_amount(write_in_words(cents)) == expected
    assert (
        parse_amount(f"人民币（大写）{write_in_words(cents)}（小写：￥{cents // 100:,}.{cents % 100:02d}）") == expected
    )


@given(st.integers(0, 10**14), st.integers(1, 10**6))
def test_words_and_figures_that_differ_are_no_amount(cents, more):
    figures = Decimal(cents + more) / 100
    assert parse_amount(f"{write_in_words(cents % 10**14)}（￥{figures + 10**13:.2f}）") is None


@given(st.text("零一二三五十百千万亿壹拾佰元整角分￥,.0123456789点（）", max_size=16))
def test_no_text_makes_it_fail(text):
    found = parse_amount(text)
    assert found is None or found.value >= 0


@given(st.decimals(min_value=0, max_value=10**10, places=3))
def test_figures_come_back_in_every_unit(value):
    for unit, factor in (("元", 1), ("万元", 10**4), ("亿元", 10**8)):
        assert parse_amount(f"{value:f}{unit}") == Amount(value * factor)
        assert parse_amount(f"{value:,f}{unit}") == Amount(value * factor)
