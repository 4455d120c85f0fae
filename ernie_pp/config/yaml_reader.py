"""Strict YAML: plain scalars only, no duplicate key, no alias, bounded, and every key's line remembered."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from ernie_pp.bounded import read_text
from ernie_pp.errors import ConfigError

MAX_BYTES = 1 << 20
MAX_DEPTH = 20
MAX_DIGITS = 1000  # far beyond any setting; Python refuses 4,301

KeyPath = tuple[str, ...]


@dataclass(frozen=True)
class Document:
    """The values of a YAML file and where each key stands, as `line:column` counted from 1."""

    values: dict[str, object]
    marks: dict[KeyPath, str]


class _Loader(yaml.SafeLoader):
    """YAML 1.2's core scalars: `no` stays text, `3e-5` is a number, `2024-01-01` stays text."""

    yaml_implicit_resolvers: dict = {}  # noqa: RUF012 (PyYAML's own class attribute)


_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|True|false|False)$"), list("tTfF"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"^(?:~|null|Null|)$"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"^[-+]?(?:0|[1-9][0-9]*)$"), list("-+0123456789"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float",
    re.compile(r"^[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?$"),
    list("-+.0123456789"),
)


class _Dumper(yaml.SafeDumper):
    """Puts quotes around every text that the loader above, or a YAML 1.1 reader, would take for something else."""


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    # Outside "..." these are line breaks, and come back as others.
    style = '"' if any(one in text for one in "\x85\u2028\u2029") else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _represent_text)
for _first, _rules in _Loader.yaml_implicit_resolvers.items():
    for _tag, _pattern in _rules:
        _Dumper.add_implicit_resolver(_tag, _pattern, [_first])
_Loader.add_constructor("tag:yaml.org,2002:int", lambda _, node: _whole_number(node))
_Loader.add_constructor("tag:yaml.org,2002:float", lambda _, node: float(node.value))


def _whole_number(node: yaml.Node) -> int:
    if len(node.value) > MAX_DIGITS:
        problem = f"a number of {len(node.value)} digits, at most {MAX_DIGITS} are read"
        raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark)
    return int(node.value)


def read_yaml(path: Path) -> Document:
    """The document of one file; ConfigError names file, line and column of what is wrong."""
    text = read_text(path, max_bytes=MAX_BYTES, error=ConfigError, do="Give a config: a YAML file in UTF-8.")
    return parse_yaml(text, source=str(path))


def parse_yaml(text: str, *, source: str) -> Document:
    """Like `read_yaml` for text that came from `source`."""
    marks: dict[KeyPath, str] = {}
    try:
        _check_events(text, source)
        loader = _Loader(text)
        node = loader.get_single_node()
        if node is not None:
            _walk(node, (), marks, source)
        values = {} if node is None else loader.construct_document(node)
    except yaml.reader.ReaderError as error:
        raise _character_error(error, text, source) from error
    except yaml.YAMLError as error:
        raise _syntax_error(error, source) from error
    if not isinstance(values, dict):
        raise ConfigError(source, f"holds {type(values).__name__}, expected `key: value` lines")
    return Document(values, marks)


def write_yaml(values: object) -> str:
    """Plain values as YAML that `parse_yaml` reads back to the same values."""
    return yaml.dump(values, Dumper=_Dumper, allow_unicode=True, sort_keys=False, width=120)


def parse_scalar(text: str, *, source: str) -> object:
    """The value of the right side of `key=value`; ConfigError where it goes on with keys of its own."""
    values = parse_yaml(f"value: {text}", source=source).values
    if values.keys() != {"value"}:
        raise ConfigError(source, "is more than one key=value", "Give each key=value as a word of its own.")
    return values["value"]


def _check_events(text: str, source: str) -> None:
    # Events come before anything is built, so depth and aliases cannot blow up memory or the stack.
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        mark = event.start_mark
        where = f"{source}:{mark.line + 1}:{mark.column + 1}"
        if depth > MAX_DEPTH:
            raise ConfigError(where, f"is nested more than {MAX_DEPTH} levels deep")
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise ConfigError(where, "uses a YAML anchor or alias", "Write the value out, or use `extends`.")
        if getattr(event, "tag", None) is not None:
            raise ConfigError(
                where, "uses a YAML tag (!)", 'Write the value alone; put text that begins with ! in "...".'
            )


def _walk(node: yaml.Node, path: KeyPath, marks: dict[KeyPath, str], source: str) -> None:
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            _walk(item, (*path, str(index)), marks, source)
    if not isinstance(node, yaml.MappingNode):
        return
    for key_node, value_node in node.value:
        position = f"{key_node.start_mark.line + 1}:{key_node.start_mark.column + 1}"
        if not isinstance(key_node, yaml.ScalarNode):
            raise ConfigError(f"{source}:{position}", "has a key that is not plain text")
        key = (*path, key_node.value)
        if key in marks:
            raise ConfigError(f"{source}:{position}", f"gives {'.'.join(key)} twice, first at line {marks[key]}")
        marks[key] = position
        _walk(value_node, key, marks, source)


def _character_error(error: yaml.reader.ReaderError, text: str, source: str) -> ConfigError:
    line = text.count("\n", 0, error.position) + 1
    column = error.position - (text.rfind("\n", 0, error.position) + 1) + 1
    what = f"holds the control character U+{int(error.character):04X}"  # type: ignore[arg-type]
    return ConfigError(f"{source}:{line}:{column}", what, 'Remove it, or write it as an escape in "...".')


def _syntax_error(error: yaml.YAMLError, source: str) -> ConfigError:
    mark = getattr(error, "problem_mark", None)
    where = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
    problem = getattr(error, "problem", None) or str(error)
    return ConfigError(where, f"is not valid YAML: {problem}", "Check the indentation, quotes and colons there.")
