"""Reads the files of bridge-spec into one value."""
import json
from dataclasses import dataclass


class SpecError(Exception):
    """A file that cannot be read."""


@dataclass
class Spec:
    actions: dict  # "smartstore/pgSoupExists" -> the action
    modules: dict  # "smartstore" -> the module
    events: dict  # "sync" -> the event
    types: dict  # "querySpec" -> the shape
    errors: dict  # "bridge/closed" -> {"meaning", "retryable"}

    def fields_of(self, name):
        """Returns the members of a shared type. Those of a state are the detail of its event."""
        kind = self.types[name]
        if "event" not in kind:
            return kind["fields"]
        detail = self.events[kind["event"]]["detail"]
        return {key: value for key, value in detail.items() if key not in kind.get("without", [])}


def _pairs(path):
    def unique(pairs):
        keys = [key for key, _ in pairs]
        for key in keys:
            if keys.count(key) > 1:
                raise SpecError(f"{path}: the key '{key}' occurs twice")
        return dict(pairs)

    return unique


def _json(path):
    try:
        return json.loads(path.read_text(), object_pairs_hook=_pairs(path))
    except (OSError, ValueError) as error:
        raise SpecError(f"{path}: {error}") from error


def read(folder):
    domains = _json(folder / "errors.json")
    actions = {f"{p.parent.name}/{p.stem}": _json(p) for p in sorted((folder / "actions").glob("*/*.json"))}
    return Spec(
        actions=actions,
        modules={p.stem: _json(p) for p in sorted((folder / "functions").glob("*.json"))},
        events={p.stem: _json(p) for p in sorted((folder / "events").glob("*.json"))},
        types=_json(folder / "types.json"),
        errors={f"{d}/{c}": e for d, value in domains.items() for c, e in value["codes"].items()},
    )


def functions(module):
    """Yields (owner, separator, name, function) for each function of a module; owner is "" for the module itself, else a class."""
    for name, function in module.get("functions", {}).items():
        yield "", ".", name, function
    for owner, kind in module.get("classes", {}).items():
        for name, function in kind.get("methods", {}).items():
            yield owner, ":", name, function
