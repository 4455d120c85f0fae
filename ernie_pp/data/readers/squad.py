"""Articles of a JSON file of questions: an object with a list `data`, as SQuAD has it, or a list itself."""

from __future__ import annotations

from collections.abc import Iterator

from ernie_pp.data.faults import Faults
from ernie_pp.data.readers.json_rows import row_of_value
from ernie_pp.data.readers.open_json import OpenText, Values, expected, read_elements, read_values
from ernie_pp.data.readers.settings import ReadSettings, Source
from ernie_pp.data.readers.strict_json import Decoded, Problem
from ernie_pp.data.rows import Row

# DuReader-robust is one article with all of its paragraphs, and \uXXXX takes six characters for one.
MAX_ARTICLE_CHARACTERS = 1 << 26
_DATA = "data"


def read_squad(source: Source, *, settings: ReadSettings, faults: Faults) -> Iterator[Row]:
    """The elements of `{…, "data": [{…}, …], …}` or of `[{…}, …]`; an object without such a list is a row itself.

    Several of these may follow each other, so JSON lines are read too.
    """
    text = OpenText(source, max_characters=MAX_ARTICLE_CHARACTERS)
    for place, decoded in read_values(text, _articles, starts="[{", faults=faults):
        row = row_of_value(decoded, place=place, settings=settings, faults=faults)
        if row is not None:
            yield row


def _articles(text: OpenText, character: str) -> Values:
    if character not in ("[", "{"):
        raise expected(text, "{ or [ at the start of a JSON value")
    if character == "{":
        yield from _object(text)
    else:
        text.pass_over(character)
        yield from read_elements(text)


def _object(text: OpenText) -> Values:
    """The elements of its list `data`; without one itself, as also where something is wrong in its other fields."""
    place, fields, has_data = text.place, {}, False
    problem: Problem | None = None
    text.pass_over("{")
    is_open = text.next_character() != "}"
    if not is_open:
        text.pass_over("}")
    while is_open:
        name = _name(text)
        problem = problem or name.problem or _repeated(name.value, fields)
        if name.value == _DATA and text.next_character() == "[":
            has_data, fields[_DATA] = True, None
            text.pass_over("[")
            yield from read_elements(text)
        else:
            text.next_character()
            value = text.decode()
            fields[str(name.value)] = value.value
            problem = problem or value.problem
        is_open = _goes_on(text)
    if not has_data or problem is not None:
        yield place, Decoded(fields, 0, problem)


def _name(text: OpenText) -> Decoded:
    """The name of the next field; the text goes on with its value."""
    if text.next_character() != '"':
        raise expected(text, "the name of a field in double quotes")
    name = text.decode()
    if text.next_character() != ":":
        raise expected(text, ": after the name of a field")
    text.pass_over(":")
    return name


def _goes_on(text: OpenText) -> bool:
    """Whether a further field follows."""
    character = text.next_character()
    if character not in (",", "}"):
        raise expected(text, ", or } after a field")
    text.pass_over(character)
    return character == ","


def _repeated(name: object, fields: dict[str, object]) -> Problem | None:
    if name not in fields:
        return None
    return Problem(f'key "{name}"', ", ".join(fields), "every key once", "Remove one of the two.")
