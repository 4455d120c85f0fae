"""Values and foreign text as safe HTML text."""

from __future__ import annotations

import html
import math
import numbers
import re
from collections.abc import Iterable

# Characters a browser drops, hides or obeys (control, zero-width, direction, lone surrogates, non-characters).
# Tab and line feed are shown as they are; U+200C, U+200D and U+FE0F build emoji and scripts.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff"
    "\ufeff\ufff9-\ufffb\ufffe\uffff]"
)


def escape_text(text: str) -> str:
    """Text for an element or a quoted attribute; lone surrogates become U+FFFD so that the page can be encoded."""
    return html.escape(re.sub("[\ud800-\udfff]", "\ufffd", text)).replace("\x00", "\ufffd")


def escape_visibly(text: str) -> str:
    """Text for an element, in which characters nobody can see are named (`\\u200b`)."""
    parts = []
    end = 0
    for match in _UNSEEN.finditer(text):
        parts.append(html.escape(text[end : match.start()]))
        parts.append(f'<span class="unseen">{_name(match[0])}</span>')
        end = match.end()
    return "".join([*parts, html.escape(text[end:])])


def list_facts(facts: Iterable[tuple[str, str]]) -> str:
    """Names and values as a list of definitions; nothing where there are none."""
    pairs = "".join(
        f"<div><dt>{escape_visibly(name)}</dt><dd>{escape_visibly(value)}</dd></div>" for name, value in facts
    )
    return f'<dl class="facts">{pairs}</dl>' if pairs else ""


def show_value(value: object, *, percent: bool = False) -> str:
    """A table cell's value as plain text: thousands grouped, fractions in percent if asked, `–` for None."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral) and not percent:
        return f"{int(value):,}"
    if isinstance(value, numbers.Real):
        return show_percent(float(value)) if percent else show_number(float(value))
    return str(value)


def show_percent(fraction: float) -> str:
    """A fraction in percent with one decimal."""
    return f"{100 * fraction:.1f} %" if math.isfinite(fraction) else show_number(fraction)


def show_number(value: float) -> str:
    """A number with four significant digits: 0.4213, 12,340, 5e-5; NaN and infinities by name."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value and not 1e-3 <= abs(value) < 1e7:
        mantissa, exponent = f"{value:.3e}".split("e")
        return f"{float(mantissa):g}e{int(exponent)}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def _name(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
