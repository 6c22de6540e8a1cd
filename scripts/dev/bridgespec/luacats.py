"""The LuaCATS definitions: bridge-spec/library."""
from .load import functions

HEAD = {
    "tureen": "-- Definitions for editors (LuaCATS): point the language server's workspace.library here. Never loaded by a script.",
    "force": "-- Definitions for editors (LuaCATS) of the record library. Never loaded by a script.",
}
MADE = "-- Made by scripts/dev/spec from bridge-spec: change that, then run it."
# Which modules stand in which file; all others are in the first.
FORCE = ("force", "optimistic")
KINDS = {"object": "table", "any": "any", "array": "table"}
WIDTH = 120


def class_of(module):
    name = module["module"]
    return name if name == "tureen" else f"tureen.{name}"


def defined_names(spec):
    """Every class and alias."""
    names = {"tureen.Success", "tureen.Failure"} | {kind["class"] for kind in spec.types.values()}
    for module in spec.modules.values():
        names |= {class_of(module), *module.get("classes", {}), *module.get("aliases", {})}
    return names


def annotation(spec, value):
    """A shape as a LuaCATS type."""
    kind = value["type"]
    if "values" in value:
        return "|".join(f'"{word}"' for word in value["values"])
    if kind in spec.types:
        return spec.types[kind]["class"]
    if kind == "array":
        elements = value["elements"]
        inner = annotation(spec, elements if isinstance(elements, dict) else {"type": elements})
        return f"({inner})[]" if "|" in inner else f"{inner}[]"
    return KINDS.get(kind, kind)


def wrapped(text):
    """A comment, in lines that fit."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + len(word) + 5 > WIDTH:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return [f"--- {line}" for line in (lines + [line] if line else lines)]


def sentence(text):
    return f"{text[0].upper()}{text[1:]}."


def with_meaning(line, meaning):
    return f"{line}  {meaning}" if meaning else line


def optional(text):
    return f"({text})?" if "|" in text or text.startswith("fun(") else f"{text}?"


def parameters_of(function):
    """(name, type, meaning) of all parameters, the callbacks among them."""
    result = []
    for parameter in function.get("parameters", []):
        kind = optional(parameter["type"]) if parameter.get("optional") else parameter["type"]
        result.append((parameter["name"], kind, parameter.get("meaning", "")))
    if "answer" in function:
        answer = function["answer"]
        success = ("success", f"fun({answer['name']}: {answer['type']})?", answer.get("meaning", ""))
        failure = ("failure", "tureen.Failure?", "")
        # The raw call has its callbacks in front.
        result = [success, failure] + result if function.get("parameters", [{}])[0].get("name") == "service" else \
            result + [success, failure]
    return result


def summary_of(spec, function):
    if "summary" in function or "action" not in function:
        return function.get("summary", "")
    service, _, action = function["action"].partition("/")
    return spec.actions[f"{service.split('.')[-1]}/{action}"]["summary"]


def definition(spec, table, separator, name, function):
    lines = wrapped(summary_of(spec, function))
    parameters = parameters_of(function)
    if any(parameter[1].startswith("T") and len(parameter[1]) < 3 for parameter in parameters):
        lines.append("---@generic T: table")
    for key, kind, meaning in parameters:
        lines.append(with_meaning(f"---@param {key} {kind}", meaning))
    returns = function.get("returns")
    if returns is None and function.get("waits"):
        answer = function["answer"]
        returns = [{"type": f"{answer['type']}|nil", "name": answer["name"], "meaning": "what success gets, inside a task"},
                   {"type": "tureen.Error?", "name": "err"}]
    elif returns is None and "answer" in function:
        returns = [{"type": "integer?", "name": "id", "meaning": "for tureen.cancel"}]
    for value in returns or []:
        lines.append(with_meaning(f"---@return {value['type']} {value.get('name', '')}".rstrip(), value.get("meaning", "")))
    if function.get("store"):
        listed = ", ".join(f"{key}: {kind}" for key, kind, _ in parameters)
        lines.append(f"---@overload fun(storeConfig: boolean|tureen.StoreConfig{', ' if listed else ''}{listed})")
    arguments = ", ".join(key for key, _, _ in parameters)
    if name == "":
        lines.append(f"function {table}({arguments}) end")
    else:
        lines.append(f"function {table}{separator}{name}({arguments}) end")
    return lines


def class_lines(name, parent, summary, fields):
    lines = wrapped(summary)
    lines.append(f"---@class {name}" + (f": {parent}" if parent else ""))
    lines += [with_meaning(f"---@field {key} {field['type']}", field.get("meaning", "")) for key, field in fields.items()]
    return lines


def shared_types(spec):
    lines = []
    for name, kind in spec.types.items():
        fields = {}
        for key, value in spec.fields_of(name).items():
            text = annotation(spec, value)
            is_there = value.get("required") or ("event" in kind and key != "name")
            fields[key] = {"type": text if is_there or text == "any" else optional(text), "meaning": value.get("meaning", "")}
        lines += class_lines(kind["class"], None, sentence(kind["meaning"]), fields) + [""]
    return lines


def module_lines(spec, module):
    table = module["module"]
    lines = []
    for alias, text in module.get("aliases", {}).items():
        lines += [f"---@alias {alias} {text}", ""]
    for name, kind in module.get("classes", {}).items():
        lines += class_lines(name, kind.get("parent"), kind.get("summary", ""), kind.get("fields", {}))
        if "methods" in kind:
            lines.append(f"local {name.split('.')[-1]} = {{}}")
        lines.append("")
    if "" not in module["functions"]:
        lines += class_lines(class_of(module), module.get("parent"), module["summary"], module.get("fields", {}))
        lines.append(f"local {table} = {{{' json = {} ' if table == 'tureen' else ''}}}")
    else:
        lines += wrapped(module["summary"]) + [f"local {table}"]
    for owner, separator, name, function in functions(module):
        lines += [""] + definition(spec, owner.split(".")[-1] if owner else table, separator, name, function)
    return lines + [""]


def text(spec, file):
    lines = [f"---@meta {'tureen' if file == 'tureen' else 'tureen.force'}", HEAD[file], MADE, ""]
    if file == "tureen":
        lines += ["---@alias tureen.Success fun(payload: any)", "---@alias tureen.Failure fun(err: tureen.Error)", ""]
        lines += shared_types(spec)
    first = ["tureen"] if file == "tureen" else list(FORCE)
    others = [] if file == "force" else [name for name in spec.modules if name not in FORCE and name != "tureen"]
    for name in first + others:
        lines += module_lines(spec, spec.modules[name])
    lines.append(f"return {file}")
    return "\n".join(lines) + "\n"
