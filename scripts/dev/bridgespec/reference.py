"""Generates the API reference, bridge-spec/reference.md."""
import json

from .load import functions
from .luacats import annotation, class_of, sentence, summary_of

HEAD = """# Reference

`scripts/dev/spec` generates this page from the files beside it. You can await every function whose line ends in `success, error`:
`local value, err = tureen.await(fn, ...)`. The first argument of a function with `[config,]` may be a store config: `true` for the global store, or
`{isGlobalStore = boolean, storeName = string}`.
"""


def code(text):
    return f"`{text}`"


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def call_line(module, owner, separator, name, function):
    parameters = [("[%s]" if p.get("optional") else "%s") % p["name"] for p in function.get("parameters", [])]
    if "answer" in function:
        callbacks = ["success", "error"]
        parameters = callbacks + parameters if parameters[:1] == ["service"] else parameters + callbacks
    if function.get("store"):
        parameters.insert(0, "[config]")
    start = owner.split(".")[-1] if owner else class_of(module)
    return f"{start}{separator}{name}({', '.join(parameters)})" if name else f"{start}({', '.join(parameters)})"


def listed_parameters(function):
    return [
        f"- {code(p['name'])}: {code(p['type'])}" + (", optional" if p.get("optional") else "") +
        (f"; {p['meaning']}" if p.get("meaning") else "")
        for p in function.get("parameters", [])
    ]


def value_text(value):
    text = code(value["type"])
    if value.get("name"):
        text = f"{code(value['name'])}, {text}"
    return text + (f": {value['meaning']}" if value.get("meaning") else "")


def function_lines(spec, module, owner, separator, name, function):
    lines = [f"#### `{call_line(module, owner, separator, name, function)}`", "", summary_of(spec, function), ""]
    lines += listed_parameters(function)
    if "answer" in function:
        lines.append(f"- success gets {value_text(function['answer'])}")
    for value in function.get("returns", []):
        lines.append(f"- returns {value_text(value)}")
    if "action" in function:
        lines.append(f"- action: {code(function['action'])}")
        service, _, action = function["action"].partition("/")
        known = spec.actions[f"{service.split('.')[-1]}/{action}"]
        if known["errors"]:
            lines.append("- errors: " + ", ".join(code(e) for e in known["errors"]))
        if known["lua"] == f"{module['module']}.{name}":
            lines += ["", "```lua", known["example"]["lua"], "```"]
    return lines + [""]


def listed_fields(fields):
    return [f"- {code(name)}: {code(field['type'])}" + (f"; {field['meaning']}" if field.get("meaning") else "")
            for name, field in fields.items()]


def class_lines(name, kind):
    """Lists the fields of a class; its methods follow."""
    if "fields" not in kind:
        return []
    parent = f" Also has the fields of {code(kind['parent'])}." if "parent" in kind else ""
    return [f"#### `{name}`", "", f"{kind.get('summary', '')}{parent}".strip(), "", *listed_fields(kind["fields"]), ""]


def module_lines(spec, module):
    lines = [f"## {class_of(module)}", "", module["summary"], "", "Names for `require`: " +
             ", ".join(code(name) for name in module["require"]) + ".", ""]
    if "client" in module:
        client = module["client"]
        lines += [", ".join(code(name) for name in client["require"]) + f": {client['summary']}", ""]
    if "fields" in module:
        lines += listed_fields(module["fields"]) + [""]
    described = {owner: [] for owner in ["", *module.get("classes", {})]}
    for owner, separator, name, function in functions(module):
        described[owner] += function_lines(spec, module, owner, separator, name, function)
    for owner, functions_of in described.items():
        lines += (class_lines(owner, module["classes"][owner]) if owner else []) + functions_of
    return lines


def default_text(default):
    """Returns a default in a form to copy: a word unchanged, anything else as JSON."""
    return default if isinstance(default, str) and default else json.dumps(default, ensure_ascii=False)


def table(spec, values):
    lines = ["| key | type | meaning |", "| --- | --- | --- |"]
    for name, value in values.items():
        notes = [value["meaning"]] if value.get("meaning") else []
        if "default" in value:
            notes.append(f"default {code(default_text(value['default']))}")
        for limit, words in (("minimum", "from"), ("maximum", "to"), ("maxLength", "at most, in bytes:")):
            if limit in value:
                notes.append(f"{words} {value[limit]}")
        key = name + ("" if value.get("required") or "required" not in value else "?")
        lines.append(f"| {code(key)} | {code(cell(annotation(spec, value)))} | {cell('; '.join(notes))} |")
    return lines


def action_lines(spec, name, action):
    lines = [f"### `{action['service']}` `{action['action']}`", "", action["summary"], ""]
    if action["arguments"]:
        lines += table(spec, action["arguments"]) + [""]
    if "oneOf" in action:
        lines += ["At least one of " + ", ".join(code(key) for key in action["oneOf"]) + " is required.", ""]
    result = action["result"]
    return lines + [f"Result: {code(annotation(spec, result))}. {result.get('meaning', '')}".rstrip(), ""]


def text(spec):
    lines = HEAD.split("\n")
    for name in ["tureen"] + [name for name in spec.modules if name != "tureen"]:
        lines += module_lines(spec, spec.modules[name])
    lines += ["# Events", "", "Listeners of `tureen.on(name, listener)` get the detail, those of `tureen.document.addEventListener` get `{type, detail}`.", ""]
    for name, event in spec.events.items():
        lines += [f"### `{name}`", "", event["summary"], ""] + [f"- {when}" for when in event["when"]] + [""]
        if event["detail"]:
            lines += table(spec, event["detail"]) + [""]
    lines += ["# Actions", "", "The services and actions of `tureen.exec(success, error, service, action, args)`. A `?` marks optional arguments.", ""]
    for name, action in spec.actions.items():
        lines += action_lines(spec, name, action)
    lines += ["# Types", ""]
    for name, kind in spec.types.items():
        lines += [f"### `{kind['class']}`", "", sentence(kind["meaning"]), ""]
        lines += table(spec, spec.fields_of(name)) + [""]
    return "\n".join(lines).rstrip() + "\n"
