"""From a decoded JSON value to a row."""

from __future__ import annotations

from ernie_pp.data.faults import Faults, nearest_advice
from ernie_pp.data.readers.settings import ReadSettings, missing_columns
from ernie_pp.data.readers.strict_json import Decoded
from ernie_pp.data.rows import Fault, Place, Row


def row_of_value(decoded: Decoded, *, place: Place, settings: ReadSettings, faults: Faults) -> Row | None:
    """The row of a JSON object with all fields the settings ask for; None after noting what is wrong."""
    value = decoded.value
    if decoded.problem is not None:
        faults.add(decoded.problem.at(place))
    elif not isinstance(value, dict):
        expected = "a JSON object with named fields"
        faults.add(Fault(place, "value", repr(value)[:100], expected, 'Write the row as {"text": "…", …}.'))
    elif missing := missing_columns(value, settings):
        advice = nearest_advice(missing[0], value)
        faults.add(Fault(place, "fields", ", ".join(value), f'a field "{missing[0]}"', advice))
    else:
        return Row(place, value)
    return None
