"""`python -m ernie_pp.serving.read_document ENDING`: the text of a file on standard input, as JSON on standard output.

A process of its own, bounded in memory and time: a file from outside may be made to take any amount of both.
"""

from __future__ import annotations

import io
import json
import resource
import sys
import zipfile
from collections.abc import Callable, Iterator

from ernie_pp.errors import DataError

MAX_MEMORY_BYTES, MAX_SECONDS = 1 << 30, 20
MAX_CHARACTERS = 4_000_000
_MAX_UNPACKED_BYTES = 64 << 20
_PLAIN = "Save it as plain text in UTF-8."


def read_document(content: bytes, ending: str) -> tuple[str, int]:
    """(text with a form feed between pages, pages) of a file; DataError for one that cannot be read or has no text."""
    pages = list(READERS[ending](content))
    text = "\f".join(pages)
    if len(text) > MAX_CHARACTERS:
        raise DataError(ending, f"has {len(text)} characters, expected at most {MAX_CHARACTERS}", "Send a part of it.")
    if not text.strip("\f \n\r\t\u3000"):
        advice = "Read it by OCR first." if ending == ".pdf" else _PLAIN
        raise DataError(ending, "has no text: a scan, or empty", advice)
    return text, len(pages)


def _read_plain(content: bytes) -> Iterator[str]:
    try:
        yield content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError("text", f"byte {error.start} is not UTF-8", _PLAIN) from error


def _read_docx(content: bytes) -> Iterator[str]:
    """Paragraphs and the cells of tables in their order; page breaks that the author set are pages."""
    import docx
    from docx.opc.exceptions import PackageNotFoundError
    from docx.table import Table

    _check_unpacked(content)
    try:
        document = docx.Document(io.BytesIO(content))
        lines = []
        for block in document.iter_inner_content():
            if isinstance(block, Table):
                lines += ["\t".join(cell.text for cell in row.cells) for row in block.rows]
            else:
                lines.append(block.text)
        yield "\n".join(lines)
    except (PackageNotFoundError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(".docx", f"cannot be read: {type(error).__name__}", "Open it and save it again.") from error


def _check_unpacked(content: bytes) -> None:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            size = sum(one.file_size for one in archive.infolist())
    except zipfile.BadZipFile as error:
        raise DataError(".docx", "is no Word document", "Open it and save it again as .docx.") from error
    if size > _MAX_UNPACKED_BYTES:
        raise DataError(".docx", f"is {size} bytes unpacked, expected at most {_MAX_UNPACKED_BYTES}", "Send the text.")


def _read_pdf(content: bytes) -> Iterator[str]:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted and not reader.decrypt(""):
            raise DataError(".pdf", "is encrypted", "Save it without a password.")
        for page in reader.pages:
            yield page.extract_text()
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(".pdf", f"cannot be read: {type(error).__name__}", "Print it to a new PDF.") from error


READERS: dict[str, Callable[[bytes], Iterator[str]]] = {
    ".txt": _read_plain,
    ".md": _read_plain,
    ".docx": _read_docx,
    ".pdf": _read_pdf,
}


def _main(ending: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_SECONDS, MAX_SECONDS))
    try:
        text, num_pages = read_document(sys.stdin.buffer.read(), ending)
        answer = {"text": text.encode("utf-8", "replace").decode("utf-8"), "pages": num_pages}
    except DataError as error:
        answer = {"problem": f"{error.what}. {error.do}"}
    except MemoryError:
        answer = {"problem": "takes too much memory to read. Send it as plain text."}
    sys.stdout.buffer.write(json.dumps(answer, ensure_ascii=False).encode("utf-8"))


if __name__ == "__main__":
    _main(sys.argv[1])
