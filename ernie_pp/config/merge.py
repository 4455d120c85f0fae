"""How a later source of settings goes over an earlier one: key by key, but for keys that exclude each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ernie_pp.config import fields
from ernie_pp.config.yaml_reader import KeyPath
from ernie_pp.errors import ConfigError

# Of each group a later source that names one key replaces the others.
EXCLUSIVE: tuple[tuple[KeyPath, ...], ...] = ((("model", "name"), ("model", "path"), ("model", "sizes")),)
# The section that one word may stand for, and what may be said beside the word.
PARALLEL, AUTO = "parallel", "auto"
BESIDE_AUTO = frozenset({AUTO, "memory", "costs"})


def merge(base: Mapping, layer: Mapping) -> dict:
    """The values of both, those of `layer` where both give one; changes neither.

    `parallel: auto` replaces what an earlier source said of the grid, and a grid replaces an earlier `auto`.
    """
    merged = _without_replaced(base, layer)
    for key, value in layer.items():
        old = merged.get(key)
        if isinstance(old, Mapping) and isinstance(value, Mapping) and key != "labels":
            value = merge(old, value)
        merged[key] = value
    return merged


def spell_out(layer: Mapping) -> dict:
    """The same values with the word `auto` written as the key it stands for."""
    return {**layer, PARALLEL: {AUTO: True}} if layer.get(PARALLEL) == AUTO else dict(layer)


def check_words(words: Sequence[str], parsed: Mapping[str, tuple[KeyPath, dict]]) -> None:
    """ConfigError where one word on the command line would undo another."""
    by_key: dict[KeyPath, str] = {}
    for word in words:
        key = parsed[word][0]
        if key in by_key:
            what = f"gives {'.'.join(key)} a second time, after {by_key[key]}"
            raise ConfigError(f"command line {word}", what, "Leave one of them out.")
        by_key[key] = word
    for first, second, what in _undone(by_key, parsed):
        raise ConfigError(f"command line {second}", f"contradicts {first}: {what}", "Leave one of them out.")


def auto_first(parsed: Mapping[str, tuple[KeyPath, dict]]) -> list[tuple[str, KeyPath, dict]]:
    """(word, key, values) in the order given, but for the word that asks for a plan: it replaces what came before."""
    words = [(word, key, layer) for word, (key, layer) in parsed.items()]
    return sorted(words, key=lambda given: not _asks_for_plan(given[2]))


def _without_replaced(base: Mapping, layer: Mapping) -> dict:
    kept = dict(base)
    for group in EXCLUSIVE:
        named = [key for key in group if fields.value_at(layer, key) is not None]
        if named:
            kept = fields.without(kept, [key for key in group if key not in named])
    if _asks_for_plan(layer):
        kept.pop(PARALLEL, None)
    elif _gives_grid(layer):
        kept = fields.without(kept, [(PARALLEL, AUTO)])
    return kept


def _asks_for_plan(layer: Mapping) -> bool:
    return fields.value_at(layer, (PARALLEL, AUTO)) is True


def _gives_grid(layer: Mapping) -> bool:
    section = layer.get(PARALLEL)
    return isinstance(section, Mapping) and bool(section.keys() - BESIDE_AUTO)


def _undone(
    by_key: Mapping[KeyPath, str], parsed: Mapping[str, tuple[KeyPath, dict]]
) -> Iterator[tuple[str, str, str]]:
    """(word, word that undoes it, why) of each pair."""
    for group in EXCLUSIVE:
        given = {key[:2]: word for key, word in by_key.items() if key[:2] in group and not word.endswith("=null")}
        if len(given) > 1:
            first, second, *_ = given.values()
            yield first, second, f"a run has one of {', '.join('.'.join(key) for key in group)}"
    plans = [word for word in by_key.values() if _asks_for_plan(parsed[word][1])]
    grids = [word for word in by_key.values() if _gives_grid(parsed[word][1])]
    if plans and grids and plans != grids:
        yield plans[0], grids[0], "the plan is made here, or it is given"
