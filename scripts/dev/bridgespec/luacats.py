"""Generates the LuaCATS definitions, bridge-spec/library."""
import re

from .load import functions

HEAD = {
    "tureen": "-- Definitions for editors (LuaCATS): point the language server's workspace.library here. Never loaded by a script.",
    "force": "-- Definitions for editors (LuaCATS) of the record library. Never loaded by a script.",
}
MADE = "-- Made by scripts/dev/spec from bridge-spec: change that, then run it."
# The modules of each file; all others are in the first.
FORCE = ("force", "optimistic")
KINDS = {"object": "table", "any": "any", "array": "table", "fieldlist": "string[]|string"}
WIDTH = 120
# Strings that name something of the project. `tureen init` defines them again with the names in the project's files.
NAMED = {
    "soupName": "tureen.SoupName", "soupNameOrQuerySpec": "tureen.SoupName",
    "syncName": "tureen.SyncName", "syncIdOrName": "tureen.SyncName",
    "indexPath": "tureen.IndexPath", "orderPath": "tureen.IndexPath", "externalIdPath": "tureen.IndexPath",
    "selectPaths": "tureen.IndexPath",
}


def class_of(module):
    name = module["module"]
    return name if name == "tureen" else f"tureen.{name}"


def defined_names(spec):
    """Returns every class and alias."""
    names = {"tureen.Success", "tureen.Failure"} | {kind["class"] for kind in spec.types.values()}
    for module in spec.modules.values():
        names |= {class_of(module), *module.get("classes", {}), *module.get("aliases", {})}
        names |= {client_class(module)} if "client" in module else set()
    return names


def client_class(module):
    """Returns the class of a module's client, with its functions for use inside a task; the module's own class if all of them wait."""
    waits = all(function.get("waits") for function in module["functions"].values() if "answer" in function)
    return class_of(module) if waits else f"{class_of(module)}.Client"


def annotation(spec, value):
    """Returns a shape as a LuaCATS type."""
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
    """Returns a comment, wrapped."""
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


def is_raw(function):
    """Returns whether the function is exec or similar."""
    return [parameter["name"] for parameter in function.get("parameters", [])][:1] == ["service"]


def of_project(name, kind, names=NAMED):
    """Returns a type in which a string that names something of the project has the type of those names."""
    if name not in names:
        return kind
    return "|".join(re.sub(r"^string(?=\[\]$|$)", names[name], part) for part in kind.split("|"))


def names_of(function):
    """Returns the parameters of a function that name something of the project, with their types."""
    given = [parameter["name"] for parameter in function.get("parameters", [])]
    names = dict(NAMED)
    if "selectPaths" in given:
        names["path"] = "tureen.IndexPath"
    if "soupName" in given:
        names["paths"] = "tureen.IndexPath"
    return names


def parameters_of(function):
    """Returns (name, type, meaning) of all parameters, including the callbacks."""
    result, names = [], names_of(function)
    for parameter in function.get("parameters", []):
        kind = of_project(parameter["name"], parameter["type"], names)
        if parameter["name"] == "..." and result and result[0][0] == "fn":
            # The arguments of the function, most often a soup or a sync and more.
            kind = "tureen.SoupName|tureen.SyncName|any"
        kind = optional(kind) if parameter.get("optional") else kind
        result.append((parameter["name"], kind, parameter.get("meaning", "")))
    if "answer" in function:
        answer = function["answer"]
        # A callback may return anything, as `return next_step()` does; the result is ignored.
        success = ("success", f"(fun({answer['name']}: {answer['type']}): any)?", answer.get("meaning", ""))
        failure = ("failure", "tureen.Failure?", "")
        # The callbacks of the raw call come first.
        result = [success, failure] + result if is_raw(function) else result + [success, failure]
    return result


def summary_of(spec, function):
    if "summary" in function or "action" not in function:
        return function.get("summary", "")
    service, _, action = function["action"].partition("/")
    return spec.actions[f"{service.split('.')[-1]}/{action}"]["summary"]


def awaited(function):
    """Returns the results of a call that waits by itself. The error has no `?`: after a nil value it can be used without a check."""
    answer = function["answer"]
    return [{"type": f"{answer['type']}|nil", "name": answer["name"], "meaning": "the value that success gets, inside a task"},
            {"type": "tureen.Error", "name": "err", "meaning": "nil on success"}]


def returns_of(function):
    if "returns" in function or "answer" not in function:
        return function.get("returns", [])
    if function.get("waits"):
        return awaited(function)
    return [{"type": "integer?" if is_raw(function) else "tureen.Call?", "name": "call", "meaning": "for tureen.cancel"}]


def must_be_used(function):
    """Returns whether a call whose value is dropped is a mistake: it lacks an await or a callback."""
    return "answer" in function and "returns" not in function and not function.get("waits") and not is_raw(function)


def shorter_calls(function):
    """Returns the parameters of calls that omit optional ones before their callbacks: from the end, or the first one."""
    given = function.get("parameters", [])
    calls = []
    if "answer" in function and given and not is_raw(function):
        starts = [given, given[1:]] if given[0].get("optional") and len(given) > 1 and not given[1].get("optional") else [given]
        for start in starts:
            while True:
                calls.append(start)
                if not start or not start[-1].get("optional"):
                    break
                start = start[:-1]
    return [parameters_of({**function, "parameters": parameters}) for parameters in calls[1:]]


def overloads(function, owner):
    """Returns the other forms of a call as types: without optional parameters, and with the store first. `owner`: a method's class."""
    parameters, shorter = parameters_of(function), shorter_calls(function)
    store = [("storeConfig", "boolean|tureen.StoreConfig", "")]
    forms = shorter + ([store + form for form in [parameters] + shorter] if function.get("store") else [])
    returned = ", ".join(value["type"] for value in returns_of(function))
    for form in forms:
        listed = ", ".join(f"{key}: {kind}" for key, kind, _ in ([("self", owner, "")] if owner else []) + form)
        yield f"---@overload fun({listed})" + (f": {returned}" if returned else "")


def gives_itself(function):
    """Returns whether a method returns an object of the class on which it was called, which a script may have made."""
    values = function.get("returns", []) + [function.get("answer", {})]
    return any(value.get("type") == "self" for value in values)


def of_class(function, name):
    """Returns the function with this type in place of `self`."""
    def named(value):
        return {**value, "type": name} if value["type"] == "self" else value

    changed = {"returns": [named(value) for value in function["returns"]]} if "returns" in function else {}
    return {**function, **changed, **({"answer": named(function["answer"])} if "answer" in function else {})}


def definition(spec, table, separator, name, function, owner=""):
    lines = wrapped(summary_of(spec, function))
    if gives_itself(function):
        function, owner = of_class(function, "T"), "T"
        lines += ["---@generic T", "---@param self T"]
    parameters = parameters_of(function)
    if any(parameter[1].startswith("T") and len(parameter[1]) < 3 for parameter in parameters):
        lines.append("---@generic T: table")
    for key, kind, meaning in parameters:
        lines.append(with_meaning(f"---@param {key} {kind}", meaning))
    for value in returns_of(function):
        lines.append(with_meaning(f"---@return {value['type']} {value.get('name', '')}".rstrip(), value.get("meaning", "")))
    lines += [*overloads(function, owner), *(["---@nodiscard"] if must_be_used(function) else [])]
    arguments = ", ".join(key for key, _, _ in parameters)
    lines.append(f"function {table}{separator if name else ''}{name}({arguments}) end")
    return lines


def class_lines(name, parent, summary, fields, call=None):
    lines = wrapped(summary)
    lines.append(f"---@class {name}" + (f": {parent}" if parent else ""))
    if call:
        lines.append(f"---@overload {call}")
    lines += [with_meaning(f"---@field {key} {field['type']}", field.get("meaning", "")) for key, field in fields.items()]
    return lines


def shared_types(spec):
    lines = []
    for name, kind in spec.types.items():
        fields = {}
        for key, value in spec.fields_of(name).items():
            text = of_project(key, annotation(spec, value))
            is_there = value.get("required") or ("event" in kind and key not in ("name", "syncName"))
            fields[key] = {"type": text if is_there or text == "any" else optional(text), "meaning": value.get("meaning", "")}
        lines += class_lines(kind["class"], None, sentence(kind["meaning"]), fields) + [""]
    return lines


def module_lines(spec, module):
    table = module["module"]
    lines = []
    for alias, text in module.get("aliases", {}).items():
        lines += [f"---@alias {alias} {text}", ""]
    for name, kind in module.get("classes", {}).items():
        lines += class_lines(name, kind.get("parent"), kind.get("summary", ""), kind.get("fields", {}), kind.get("call"))
        if "methods" in kind:
            lines.append(f"local {name.split('.')[-1]} = {{}}")
        lines.append("")
    lines += class_lines(class_of(module), module.get("parent"), module["summary"], module.get("fields", {}), module.get("call"))
    lines.append(f"local {table} = {{{' json = {} ' if table == 'tureen' else ''}}}")
    for owner, separator, name, function in functions(module):
        lines += [""] + definition(spec, owner.split(".")[-1] if owner else table, separator, name, function, owner)
    return lines + [""]


def module_text(module, name):
    """Returns the file that `require` of this name finds; its value has the module's class."""
    value = module["module"]
    kind = class_of(module) if name in module["require"] else client_class(module)
    return "\n".join([f"---@meta {name}", MADE, "", f"---@type {kind}", f"local {value}", f"return {value}", ""])


def client_text(spec, module):
    """Returns the file of a client: the waiting functions without their callbacks, and those that return at once."""
    kind = client_class(module)
    lines = [f"---@meta {module['client']['require'][0]}", MADE, ""]
    lines += class_lines(kind, None, module["client"]["summary"], {}) + ["local client = {}"]
    for name, function in module["functions"].items():
        if "answer" in function:
            function = {**function, "summary": summary_of(spec, function), "returns": awaited(function)}
            del function["answer"]
        elif "action" in function:
            continue  # it answers repeatedly
        lines += [""] + definition(spec, "client", ".", name, function)
    return "\n".join(lines + ["", "return client", ""])


def function_text(spec, module, name):
    """Returns the file of a module that is a function."""
    value = module["module"]
    lines = definition(spec, value, "", "", module["functions"][""])
    lines[-1] = f"local {lines[-1]}"
    return "\n".join([f"---@meta {name}", MADE, "", *lines, "", f"return {value}", ""])


def text(spec, file):
    lines = [f"---@meta {'tureen' if file == 'tureen' else 'tureen.force'}", HEAD[file], MADE, ""]
    if file == "tureen":
        lines += ["---@alias tureen.Success fun(payload: any): any", "---@alias tureen.Failure fun(err: tureen.Error): any", ""]
        lines += ["-- Names of the project: tureen init --definitions defines them again with those in its files."]
        lines += [f"---@alias {name} string" for name in sorted(set(NAMED.values()))] + [""]
        lines += shared_types(spec)
    first = ["tureen"] if file == "tureen" else list(FORCE)
    others = [] if file == "force" else [name for name in spec.modules if name not in FORCE and name != "tureen"]
    for name in first + others:
        if "" not in spec.modules[name]["functions"]:
            lines += module_lines(spec, spec.modules[name])
    lines.append(f"return {file}")
    return "\n".join(lines) + "\n"


def files(spec):
    """Returns path in the library -> text. Each module has a file of its name, where any language server finds it."""
    made = {f"{file}.lua": text(spec, file) for file in HEAD}
    for module in spec.modules.values():
        client = module.get("client", {}).get("require", [])
        for name in module["require"] + client:
            if name in ("tureen", "tureen.force"):
                continue  # the two above include it
            if "" in module["functions"]:
                content = function_text(spec, module, name)
            elif name in client[:1] and client_class(module) != class_of(module):
                content = client_text(spec, module)
            else:
                content = module_text(module, name)
            made[name.replace(".", "/") + ".lua"] = content
    return made
