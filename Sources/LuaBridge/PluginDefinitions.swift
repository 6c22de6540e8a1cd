import JSON

/// Generates the documentation of a plug-in from its spec: definitions for editors (LuaCATS) and a reference page.
public struct PluginDefinitions: Sendable {
  /// The service's name, such as `com.acme.printer`.
  public let service: String
  private let summary: String
  private let types: JSONObject
  private let actions: JSONObject

  /// - Parameter text: JSON text in the form of ``PluginSpec``, with `service`.
  /// - Throws: ``BridgeError`` `invalidArguments`, naming the key.
  public init(parsing text: String) throws(BridgeError) {
    _ = try PluginSpec(parsing: text)
    guard let spec = try? JSONValue(parsing: text), let service = spec["service"]?.stringValue else {
      throw .bridge(.invalidArguments, "spec: 'service' is missing; it names the plug-in")
    }
    try PluginName.check(service, "service")
    self.service = service
    summary = spec["summary"]?.stringValue ?? "The service \(service)."
    types = spec["types"]?.objectValue ?? [:]
    actions = spec["actions"]?.objectValue ?? [:]
  }

  /// A file for `workspace.library` of lua-language-server. It defines the class of the value of `tureen.service(name)`.
  public var lua: String {
    var lines = ["---@meta", "-- Made by tureen spec; for editors, never loaded.", ""]
    for (name, type) in types {
      lines += classLines("\(service).\(name)", type["meaning"]?.stringValue, type["fields"]) + [""]
    }
    for (name, action) in actions {
      lines += classLines("\(service).\(name).Arguments", nil, action["arguments"]) + [""]
    }
    lines += ["--- \(summary)", "---@class \(service)", "local service = {}"]
    for (name, action) in actions { lines += [""] + functionLines(name, action) }
    return (lines + ["", "return service"]).joined(separator: "\n") + "\n"
  }

  /// A page in Markdown that lists each action with its arguments, its result and its errors.
  public var reference: String {
    var lines = ["# \(service)", "", summary, ""]
    for (name, action) in actions {
      lines += ["## `\(name)`", ""]
      if let summary = action["summary"]?.stringValue { lines += [summary, ""] }
      lines += table(action["arguments"])
      if let oneOf = action["oneOf"]?.arrayValue?.compactMap(\.stringValue), !oneOf.isEmpty {
        lines += ["One of \(oneOf.map { "`\($0)`" }.joined(separator: " and ")) is needed.", ""]
      }
      if let result = action["result"] { lines += ["Result: `\(annotation(result))`. \(meaning(result))".trimmingEnd, ""] }
      if let errors = action["errors"]?.arrayValue?.compactMap(\.stringValue), !errors.isEmpty {
        lines += ["Errors: \(errors.map { "`\($0)`" }.joined(separator: ", ")).", ""]
      }
    }
    for (name, type) in types {
      lines += ["## `\(service).\(name)`", ""] + table(type["fields"])
    }
    return lines.joined(separator: "\n")
  }

  private func classLines(_ name: String, _ meaning: String?, _ fields: JSONValue?) -> [String] {
    let listed = (fields?.objectValue ?? [:]).map { key, value in
      "---@field \(key)\(isRequired(value) ? "" : "?") \(annotation(value))  \(self.meaning(value))".trimmingEnd
    }
    return (meaning.map { ["--- \($0)"] } ?? []) + ["---@class \(name)"] + listed
  }

  private func functionLines(_ name: String, _ action: JSONValue) -> [String] {
    let isNeeded = action["arguments"]?.objectValue?.contains { isRequired($0.value) } ?? false
    let result = action["result"].map(annotation) ?? "any"
    return (action["summary"]?.stringValue.map { ["--- \($0)"] } ?? []) + [
      "---@param args \(service).\(name).Arguments\(isNeeded ? "" : "?")", "---@param success (fun(value: \(result)): any)?",
      "---@param failure (fun(err: tureen.Error): any)?", "---@param progress (fun(value: any))?",
      "---@return tureen.Call? call  for tureen.cancel", "---@nodiscard",
      "function service.\(name)(args, success, failure, progress) end",
    ]
  }

  private func table(_ values: JSONValue?) -> [String] {
    guard let values = values?.objectValue, !values.isEmpty else { return [] }
    let rows = values.map { key, value in
      "| `\(key)\(isRequired(value) ? "" : "?")` | `\(annotation(value).replacing("|", with: "\\|"))` | \(meaning(value)) |"
    }
    return ["| key | type | meaning |", "| --- | --- | --- |"] + rows + [""]
  }

  /// Returns a value's type in LuaCATS notation.
  private func annotation(_ value: JSONValue) -> String {
    if let words = value["values"]?.arrayValue?.compactMap(\.stringValue), !words.isEmpty {
      return words.map { "\"\($0)\"" }.joined(separator: "|")
    }
    switch value["type"]?.stringValue ?? "any" {
    case "object": return "table"
    case "fieldlist": return "string[]|string"
    case "array":
      let elements = value["elements"] ?? "any"
      let inner = annotation(elements.objectValue == nil ? ["type": elements] : elements)
      return inner.contains("|") ? "(\(inner))[]" : "\(inner)[]"
    case let type: return types[type] == nil ? type : "\(service).\(type)"
    }
  }

  private func isRequired(_ value: JSONValue) -> Bool { value["required"]?.boolValue ?? false }

  private func meaning(_ value: JSONValue) -> String { value["meaning"]?.stringValue ?? "" }
}

extension String {
  fileprivate var trimmingEnd: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
