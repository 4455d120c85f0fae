"""What a bundle's manifest says of the training, checked before anything relies on it.

The manifest's hash tells what changed by accident; one that was edited and hashed again comes this far.
"""

from __future__ import annotations

import math
import typing
from collections.abc import Iterator, Mapping
from typing import Any

from ernie_pp.choices import Quoting, Truncate
from ernie_pp.errors import ModelError
from ernie_pp.export.bundle import MANIFEST, Bundle

_AGAIN = "Copy the bundle again, whole, or export it again."


def read_decoding(bundle: Bundle, codec: Any) -> Any:
    """The task's decode settings; ModelError names all the manifest says that no training could have said."""
    values = bundle.manifest
    problems = [*_columns(values["columns"]), *_text(values["text"]), *_decode(values["decode"])]
    if not problems:
        try:
            return codec.decode.DecodeSettings.from_json(values["decode"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problems = [f"decode cannot be read: {type(error).__name__} {error}"]
    raise ModelError(str(bundle.folder / MANIFEST), "\n".join(problems), _AGAIN)


def _columns(columns: Mapping) -> Iterator[str]:
    for name, allowed in (("text", (str,)), ("text_pair", (str, type(None))), ("header", (bool,))):
        if not isinstance(columns[name], allowed):
            yield f"columns.{name} is {_shown(columns[name])}"
    if columns["quoting"] not in typing.get_args(Quoting):
        yield f"columns.quoting is {_shown(columns['quoting'])}"


def _text(text: Mapping) -> Iterator[str]:
    length = text.get("max_length")
    if not isinstance(length, int) or isinstance(length, bool) or not 3 <= length <= 1 << 20:
        yield f"text.max_length is {_shown(length)}, expected a number of tokens from 3 on"
    if text.get("truncate") not in typing.get_args(Truncate):
        yield f"text.truncate is {_shown(text.get('truncate'))}, expected one of {', '.join(typing.get_args(Truncate))}"


def _decode(decode: Mapping) -> Iterator[str]:
    labels, thresholds = decode.get("labels"), decode.get("thresholds")
    if not isinstance(labels, list) or not labels or not all(isinstance(one, str) and one.strip() for one in labels):
        yield f"decode.labels is {_shown(labels)}, expected a list of names"
    elif len(set(labels)) < len(labels):
        yield "decode.labels names one label twice"
    elif not isinstance(thresholds, list) or len(thresholds) != len(labels) or not all(map(_is_number, thresholds)):
        yield f"decode.thresholds is {_shown(thresholds)}, expected {len(labels)} numbers"
    if not isinstance(decode.get("multi_label"), bool):
        yield f"decode.multi_label is {_shown(decode.get('multi_label'))}"


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _shown(value: object) -> str:
    return ascii(value)[:80]
