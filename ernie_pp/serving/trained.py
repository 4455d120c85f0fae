"""What a bundle's manifest says of the training, checked before anything relies on it.

The manifest's hash tells what changed by accident; one that was edited and hashed again comes this far.
"""

from __future__ import annotations

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
    problems = [*_columns(values["columns"]), *_text(values["text"])]
    if not problems:
        try:
            return codec.decode.DecodeSettings.from_json(values["decode"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problems = [f"decode cannot be read: {error}"]
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
    overlap = text.get("overlap")
    if type(overlap) is not int or not 0 <= overlap <= 1 << 20:
        yield f"text.overlap is {_shown(overlap)}, expected a number of tokens"
    ranked = text.get("ranked_windows")
    if ranked is not None and (type(ranked) is not int or not 1 <= ranked <= 1 << 30):
        yield f"text.ranked_windows is {_shown(ranked)}, expected a number of windows"
    if text.get("truncate") not in typing.get_args(Truncate):
        yield f"text.truncate is {_shown(text.get('truncate'))}, expected one of {', '.join(typing.get_args(Truncate))}"


def _shown(value: object) -> str:
    return ascii(value)[:80]
