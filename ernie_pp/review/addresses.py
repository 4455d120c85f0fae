"""File names of documents' pages: safe whatever the documents are called."""

from __future__ import annotations

import re

_MAX_BYTES = 120
_UNSAFE = re.compile(r"[^\w.-]+")


def page_name(number: int, document_id: str) -> str:
    """`000012-合同.html` for the 12th document: its number keeps it apart from all others, whatever their ids.

    No separator, blank, control or reserved character is left, no name is a device of Windows or begins with a dot,
    and the name is far shorter than a file system allows.
    """
    # A half of a surrogate pair is a word character to `re` and nothing to a file system.
    readable = _UNSAFE.sub("_", document_id.encode("utf-8", "replace").decode("utf-8")).strip("._-")
    while len(readable.encode("utf-8")) > _MAX_BYTES:
        readable = readable[:-1]
    return f"{number:06d}-{readable}.html" if readable else f"{number:06d}.html"
