"""Dates and ranges of dates as ISO 8601."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass

from ernie_pp.review.numerals import CHINESE_NUMERALS, parse_chinese, read_digits
from ernie_pp.text.normalize import Normalization, normalize

_TIGHT = Normalization(width=True, blanks=True, invisible=True)
_NUMBER = rf"[0-9{CHINESE_NUMERALS}]"
_YEAR = rf"(?:[0-9]{{4}}|[{CHINESE_NUMERALS}0O]{{4}})"
_WORDS = re.compile(
    rf"(?:(?P<year>{_YEAR})年度?)?(?:(?P<month>{_NUMBER}{{1,3}})月份?)?(?:(?P<day>{_NUMBER}{{1,3}})[日号號])?"
)
_FIGURES = re.compile(
    r"(?P<year>[0-9]{4})(?:(?P<mark>[-/.])(?P<month>[0-9]{1,2})(?:(?P=mark)(?P<day>[0-9]{1,2}))?|"
    r"(?P<month8>[0-9]{2})(?P<day8>[0-9]{2}))"
)
_RANGE = re.compile(r"起?[,，]?(?:至|到|~|～|—+|–|--)")
_FIRST_YEAR, _LAST_YEAR = 1900, 2199
_MAX_LENGTH = 60


@dataclass(frozen=True)
class _Parts:
    year: int | None
    month: int | None
    day: int | None

    def after(self, start: _Parts) -> _Parts:
        """The parts this end of a range leaves out, taken from its start."""
        if self.year is not None:
            return self
        return _Parts(start.year, start.month if self.month is None else self.month, self.day)


def parse_dates(text: str) -> tuple[str, ...]:
    """The date that the whole text writes, or the two of a range; none where it is neither.

    A date is YYYY-MM-DD, YYYY-MM or YYYY, as exact as the text. The end of a range may leave out what its start
    says; a day that no calendar has, an end before its start and a date without a year give none.
    """
    if len(text) > _MAX_LENGTH:
        return ()
    plain = normalize(text, _TIGHT).text.replace(" ", "").replace("公元", "")
    plain = re.sub(r"^[自从由于]|[,，]?(?:起|止|为止)?[.。,，;；]?$", "", plain)
    ends = [_read(part) for part in _split(plain)]
    if not 1 <= len(ends) <= 2 or ends[0] is None or ends[-1] is None:
        return ()
    dates = tuple(map(_iso, (ends[0], ends[-1].after(ends[0]))[: len(ends)]))
    found = tuple(date for date in dates if date is not None)
    # An ISO date that is less exact begins the one that is more so.
    backwards = len(found) == 2 and found[1] < found[0][: len(found[1])]
    return () if len(found) < len(dates) or backwards else found


def _split(plain: str) -> list[str]:
    """The ends of a range; a hyphen is between two dates where it is not within them."""
    if plain.count("-") == 1 and any(mark in plain for mark in "./年"):
        return plain.split("-")
    return _RANGE.split(plain)


def _read(part: str) -> _Parts | None:
    figures = _FIGURES.fullmatch(part)
    if figures is not None:
        month, day = figures["month"] or figures["month8"], figures["day"] or figures["day8"]
        return _Parts(int(figures["year"]), int(month), None if day is None else int(day))
    words = _WORDS.fullmatch(part)
    if not part or words is None:
        return None
    read = [_year(words["year"]), _small(words["month"]), _small(words["day"])]
    given = [words["year"], words["month"], words["day"]]
    if any(text is not None and value is None for text, value in zip(given, read, strict=True)):
        return None
    return _Parts(*read)


def _year(text: str | None) -> int | None:
    digits = None if text is None else read_digits(text.replace("O", "0"))
    return None if digits is None else int(digits)


def _small(text: str | None) -> int | None:
    """A month or day: 05, 十二, 三十一, 廿三, 二三 is none."""
    if text is None:
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    return parse_chinese(text.lstrip("零〇") or text)


def _iso(parts: _Parts) -> str | None:
    """The date as ISO 8601; None where there is none such."""
    if parts.year is None or not _FIRST_YEAR <= parts.year <= _LAST_YEAR:
        return None
    if parts.month is None:
        return f"{parts.year}" if parts.day is None else None
    try:
        date = datetime.date(parts.year, parts.month, 1 if parts.day is None else parts.day)
    except ValueError:
        return None
    return date.isoformat() if parts.day is not None else f"{date:%Y-%m}"
