"""Generates the runtime's rules for arguments, Sources/LuaBridge/ActionArguments*.swift, in swift-format's layout."""

MADE = "// Made by scripts/dev/spec from bridge-spec/actions: change those, then run it.\n\n"
HEAD = """// Made by scripts/dev/spec from bridge-spec/actions and bridge-spec/types.json: change those, then run it.

/// The shapes that several actions share.
private enum Shared {
%s
}

%s
"""
# service -> (the enum of its actions, the prefix of their wire names)
ENUMS = {
    "smartstore": ("SmartStoreAction", "pg"), "keyvalue": ("KeyValueAction", "kv"), "mobilesync": ("MobileSyncAction", ""),
    "network": ("NetworkAction", "pg"), "oauth": ("OAuthAction", ""), "sfaccountmanager": ("AccountAction", ""),
    "accounts": ("AccountsAction", ""), "sdkinfo": ("SDKInfoAction", ""), "asset": ("AssetAction", ""), "parse": ("ParseAction", ""),
    "host": ("HostAction", ""),
}
WIDTH = 128


def case(service, action):
    prefix = ENUMS[service][1]
    if prefix and action.startswith(prefix):
        action = action[len(prefix):]
    return action[0].lower() + action[1:]


def shape(value):
    kind = value["type"]
    if kind == "array":
        elements = value["elements"]
        return f".array({shape(elements if isinstance(elements, dict) else {'type': elements})})"
    if kind == "object":
        fields = value.get("fields")
        return f".object([{', '.join(field(n, v) for n, v in fields.items())}])" if fields else ".anyObject"
    if kind in ("string", "integer", "number", "boolean", "any", "fieldlist"):
        return f".{kind}"
    return f"Shared.{kind}"


def field(name, value):
    return f".{'required' if value.get('required') else 'optional'}(\"{name}\", {shape(value)})"


def fields(values, indent):
    """Returns a list of fields, on one line if it fits, else one a line."""
    listed = [field(name, value) for name, value in values.items()]
    one = f"[{', '.join(listed)}]"
    if len(one) + indent + 30 <= WIDTH:
        return one
    pad = " " * (indent + 2)
    return "[\n" + "".join(f"{pad}{item},\n" for item in listed) + " " * indent + "]"


def used_types(spec):
    """Returns the shared types that arguments use."""
    used, waiting = set(), [a for action in spec.actions.values() for a in action["arguments"].values()]
    while waiting:
        value = waiting.pop()
        for name in (value["type"], value.get("elements")):
            if isinstance(name, str) and name in spec.types and name not in used:
                used.add(name)
                waiting += spec.fields_of(name).values()
        if isinstance(value.get("elements"), dict):
            waiting.append(value["elements"])
        waiting += value.get("fields", {}).values()
    return [name for name in spec.types if name in used]


def rule(action):
    more = ""
    for key, label in (("oneOf", "oneOf"), ("ignored", "ignoring")):
        if action.get(key):
            names = ", ".join(f'"{name}"' for name in action[key])
            more += f", {label}: [{names}]"
    if action.get("open"):
        more += ", isOpen: true"
    listed = fields(action["arguments"], 4)
    if not more or "\n" not in listed and len(listed) + len(more) + 50 <= WIDTH:
        return f"ArgumentRules({listed}{more})"
    return f"ArgumentRules(\n      {fields(action['arguments'], 6)}{more})"


def service_text(spec, service):
    enum = ENUMS[service][0]
    actions = {case(service, name.split("/")[1]): a for name, a in spec.actions.items() if name.split("/")[0] == service}
    lines = [f"extension {enum} {{", "  /// What the action takes.", "  var rules: ArgumentRules {", "    switch self {"]
    lines += [f"    case .{name}: Rules.{name}" for name in actions]
    lines += ["    }", "  }", "", "  private enum Rules {"]
    for name, action in actions.items():
        lines.append(f"    static let {name} = {rule(action)}")
    return "\n".join(lines + ["  }", "}"])


def summaries(spec):
    """Generates the actions' summaries, Sources/LuaBridge/ActionSummaries.swift."""
    lines = ["// Made by scripts/dev/spec from bridge-spec/actions: change those, then run it.", "", "extension ActionCatalog {"]
    lines.append("  /// What each action does, by the last word of its service and its wire name.")
    lines.append("  static let summaries = [")
    for name, action in spec.actions.items():
        first = action["summary"].split(". ")[0].split("; ")[0].rstrip(".") + "."
        if len(first) > WIDTH - 10:
            first = first.split(", and ")[0].rstrip(".") + "."
        text = first.replace("\\", "\\\\").replace('"', '\\"')
        one = f'    "{name}": "{text}",'
        lines += [one] if len(one) <= WIDTH else [f'    "{name}":', f'      "{text}",']
    return "\n".join(lines + ["  ]", "}"]) + "\n"


def texts(spec):
    """Returns the rules of the services that use shared types, and the rules of the others."""
    shared = []
    for name in used_types(spec):
        shared.append(f"  static let {name} = Shape.object({fields(spec.fields_of(name), 2)})")
    services = [service_text(spec, service) for service in ENUMS]
    with_shared = [text for text in services if "Shared." in text]
    others = [text for text in services if "Shared." not in text]
    return HEAD % ("\n".join(shared), "\n\n".join(with_shared)), MADE + "\n\n".join(others) + "\n"
