"""Finds mistakes in bridge-spec from its own files."""
from . import annotations
from .load import functions
from .luacats import class_of, defined_names

KINDS = {"string", "integer", "number", "boolean", "object", "array", "any", "fieldlist"}
ACTION_KEYS = {"service", "action", "lua", "summary", "arguments", "oneOf", "ignored", "open", "result", "errors", "example"}
VALUE_KEYS = {
    "type", "elements", "values", "fields", "required", "default", "minimum", "maximum", "maxLength", "meaning", "nullable",
}
FUNCTION_KEYS = {"action", "summary", "store", "waits", "answer", "parameters", "returns", "example"}
PARAMETER_KEYS = {"name", "type", "optional", "meaning"}
MODULE_KEYS = {"module", "require", "parent", "summary", "fields", "functions", "classes", "aliases", "client", "call"}
CLASS_KEYS = {"summary", "parent", "call", "fields", "methods"}
CLIENT_KEYS = {"require", "summary"}
EVENT_KEYS = {"event", "summary", "when", "order", "detail", "sticky", "example"}


class Check:
    def __init__(self, spec):
        self.spec, self.found = spec, []
        self.names = defined_names(spec)

    def mistake(self, where, what):
        self.found.append(f"{where}: {what}")

    def keys(self, where, value, known):
        for key in value:
            if key not in known:
                self.mistake(where, f"the key '{key}' is unknown")

    def value(self, where, value):
        """Checks the shape of an argument, a result or a member."""
        self.keys(where, value, VALUE_KEYS)
        kind = value.get("type")
        if kind not in KINDS and kind not in self.spec.types:
            self.mistake(where, f"the type '{kind}' is unknown")
        elements = value.get("elements")
        if isinstance(elements, dict):
            self.value(f"{where}[]", elements)
        elif elements is not None and elements not in KINDS and elements not in self.spec.types:
            self.mistake(where, f"the type '{elements}' of its elements is unknown")
        default = value.get("default")
        if isinstance(default, str) and "values" in value and default not in value["values"]:
            self.mistake(where, f"the default '{default}' is none of its values")
        if kind == "array" and elements is None:
            self.mistake(where, "an array says what its elements are")
        for name, member in value.get("fields", {}).items():
            self.value(f"{where}.{name}", member)

    def annotation(self, where, text):
        try:
            unknown = annotations.names(text) - self.names - annotations.BUILT_IN
        except ValueError as error:
            return self.mistake(where, str(error))
        for name in sorted(unknown):
            self.mistake(where, f"the type '{name}' is not defined")

    def action(self, name, action):
        where = f"actions/{name}.json"
        self.keys(where, action, ACTION_KEYS)
        for key in ("service", "action", "lua", "summary", "arguments", "result", "errors", "example"):
            if key not in action:
                return self.mistake(where, f"'{key}' is missing")
        for key, argument in action["arguments"].items():
            self.value(f"{where}: {key}", argument)
            if argument.get("required") and "default" in argument:
                self.mistake(where, f"'{key}' is required and has a default")
        self.value(f"{where}: result", action["result"])
        for code in action["errors"]:
            if code not in self.spec.errors:
                self.mistake(where, f"the error '{code}' is not in errors.json")
        for key in action.get("oneOf", []):
            if key not in action["arguments"]:
                self.mistake(where, f"oneOf names '{key}', which is no argument")
        for key in action.get("ignored", []):
            if key in action["arguments"]:
                self.mistake(where, f"'{key}' is an argument and ignored")
        for key in ("arguments", "result", "lua"):
            if key not in action["example"]:
                self.mistake(where, f"the example has no '{key}'")
        for key in action["example"].get("arguments", {}):
            if key not in action["arguments"]:
                self.mistake(where, f"the example's argument '{key}' is unknown")
        module, _, function = action["lua"].partition(".")
        known = self.spec.modules.get(module, {}).get("functions", {}).get(function, {})
        if known.get("action") != f"{action['service']}/{action['action']}":
            self.mistake(where, f"functions/{module}.json has no '{function}' with this action")

    def function(self, where, function):
        self.keys(where, function, FUNCTION_KEYS)
        if "summary" not in function and "action" not in function:
            self.mistake(where, "'summary' is missing")
        if "action" in function:
            service, _, action = function["action"].partition("/")
            known = self.spec.actions.get(f"{service.split('.')[-1]}/{action}")
            if not known or known["service"] != service:
                self.mistake(where, f"there is no action {function['action']}")
        for parameter in function.get("parameters", []):
            self.keys(where, parameter, PARAMETER_KEYS)
            self.annotation(where, parameter["type"])
        for value in function.get("returns", []) + ([function["answer"]] if "answer" in function else []):
            self.annotation(where, value["type"])

    def module(self, name, module):
        where = f"functions/{name}.json"
        self.keys(where, module, MODULE_KEYS)
        if module.get("module") != name:
            self.mistake(where, "'module' is not the file's name")
        for owner, separator, key, function in functions(module):
            self.function(f"{where}: {owner}{separator}{key}", function)
        members = [("", module.get("fields", {}))] + [(k, v.get("fields", {})) for k, v in module.get("classes", {}).items()]
        for owner, fields in members:
            for key, field in fields.items():
                self.annotation(f"{where}: {owner}.{key}", field["type"])
        for key, kind in module.get("classes", {}).items():
            self.keys(f"{where}: {key}", kind, CLASS_KEYS)
        for kind in [module, *module.get("classes", {}).values()]:
            if "call" in kind:
                self.annotation(where, kind["call"])
        self.keys(f"{where}: client", module.get("client", {}), CLIENT_KEYS)
        for alias, text in module.get("aliases", {}).items():
            self.annotation(f"{where}: {alias}", text)

    def event(self, name, event):
        where = f"events/{name}.json"
        self.keys(where, event, EVENT_KEYS)
        if event.get("event") != name:
            self.mistake(where, "'event' is not the file's name")
        for key in ("summary", "when", "detail"):
            if key not in event:
                self.mistake(where, f"'{key}' is missing")
        for key, member in event.get("detail", {}).items():
            self.value(f"{where}: {key}", member)


def mistakes(spec):
    check = Check(spec)
    for name, kind in spec.types.items():
        if "class" not in kind or "meaning" not in kind:
            check.mistake(f"types.json: {name}", "a type has a class and a meaning")
        for key, member in spec.fields_of(name).items():
            check.value(f"types.json: {name}.{key}", member)
    for name, event in spec.events.items():
        check.event(name, event)
    for name, action in spec.actions.items():
        check.action(name, action)
    for name, module in spec.modules.items():
        check.module(name, module)
        if class_of(module) in spec.types:
            check.mistake(name, "is a module and a type")
    return check.found
