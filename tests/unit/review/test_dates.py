"""Dates as contracts write them become ISO dates, and impossible ones become none."""

import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ernie_pp.review.dates import parse_dates

CERTAIN = {
    "2018年5月3日": "2018-05-03",
    "2018-05-03": "2018-05-03",
    "2018/5/3": "2018-05-03",
    "2018.5.3": "2018-05-03",
    "20180503": "2018-05-03",
    "２０１８年５月３日": "2018-05-03",
    "2018 年 5 月 3 日": "2018-05-03",
    "2018年05月03号": "2018-05-03",
    "二〇一八年五月三日": "2018-05-03",
    "二○一八年五月廿三日": "2018-05-23",
    "二零一八年十二月三十一日": "2018-12-31",
    "二零一八年": "2018",
    "2018年度": "2018",
    "2018年5月": "2018-05",
    "2018年5月份": "2018-05",
    "2018.05": "2018-05",
    "2020年2月29日": "2020-02-29",
    "自2018年5月3日起": "2018-05-03",
}
RANGES = {
    "自2018年5月1日起至2019年4月30日止": ("2018-05-01", "2019-04-30"),
    "2018年5月1日至10月31日": ("2018-05-01", "2018-10-31"),
    "2018年5月1日至31日": ("2018-05-01", "2018-05-31"),
    "2018.5.1-2019.4.30": ("2018-05-01", "2019-04-30"),
    "2018-05-01至2019-04-30": ("2018-05-01", "2019-04-30"),
    "2018年5月——2019年6月": ("2018-05", "2019-06"),
    "二〇一八年五月一日起，至二〇一九年四月三十日止": ("2018-05-01", "2019-04-30"),
    "2018年5月3日至2018年": ("2018-05-03", "2018"),
}
NONE = [
    "",
    "2018年2月30日",
    "2019年2月29日",
    "2018年13月",
    "2018年4月31日",
    "2018年0月1日",
    "2018年5月0日",
    "2018-13-01",
    "5月3日",
    "18年5月3日",
    "二十年五月",
    "2018年3日",
    "2018年二三月",
    "签订之日",
    "2018",
    "1234567",
    "0018年5月3日",
    "2018年5月3日前",
    "2018年11月1日至3月1日",
    "2019年1月1日至2018年1月1日",
    "2018年5月3日至签订之日",
    "2018年1月1日至2月1日至3月1日",
    "3/5/2018",
    "2018-5/3",
    "20180230",
    "2018年5月1日至31号至",
    "年" * 100,
]


@pytest.mark.parametrize("text", CERTAIN)
def test_a_date_is_read(text):
    assert parse_dates(text) == (CERTAIN[text],)


@pytest.mark.parametrize("text", RANGES)
def test_a_range_is_two_dates(text):
    assert parse_dates(text) == RANGES[text]


@pytest.mark.parametrize("text", NONE)
def test_what_is_no_date_of_the_calendar_is_none(text):
    assert parse_dates(text) == ()


def _in_words(number):
    """1 to 31 in Chinese digits."""
    digits = "零一二三四五六七八九"
    tens, ones = divmod(number, 10)
    return (digits[tens] if tens > 1 else "") + ("十" if tens else "") + (digits[ones] if ones else "")


@given(st.dates(datetime.date(1900, 1, 1), datetime.date(2199, 12, 31)))
def test_every_date_comes_back_from_every_form(date):
    year = "".join("〇一二三四五六七八九"[int(digit)] for digit in str(date.year))
    words = f"{year}年{_in_words(date.month)}月{_in_words(date.day)}日"
    forms = [words, f"{date.year}年{date.month}月{date.day}日", f"{date:%Y/%m/%d}", f"{date:%Y%m%d}", date.isoformat()]
    assert {parse_dates(form) for form in forms} == {(date.isoformat(),)}


@given(st.text("0123456789二〇一八年月日十至起止.-/自", max_size=20))
def test_no_text_makes_it_fail(text):
    assert len(parse_dates(text)) <= 2
