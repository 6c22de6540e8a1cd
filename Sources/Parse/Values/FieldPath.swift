import JSON
import RecordScan

/// A column, or a part of an Object column such as `stats.reads`.
struct FieldPath: Sendable, Equatable {
  /// The column.
  let root: String
  private let parts: [String]

  init(_ text: String) {
    let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    // Keep an invalid name whole; a save rejects it. So is one with more parts than JSON may be nested.
    parts = names.contains("") || names.count > JSONWalker.maximumDepth ? [text] : names
    root = parts.first ?? text
  }

  var isPart: Bool { parts.count > 1 }
  var names: ArraySlice<String> { parts[...] }

  func value(in fields: JSONObject) -> JSONValue? {
    var value: JSONValue? = fields[root]
    for part in parts.dropFirst() { value = Self.member(part, of: value) }
    return value
  }

  /// Sets the value, or removes it for nil. Creates missing objects on the way, as the server does.
  func set(_ value: JSONValue?, in fields: inout JSONObject) {
    fields[root] = Self.setting(value, at: parts.dropFirst(), in: fields[root])
  }

  private static func member(_ name: String, of value: JSONValue?) -> JSONValue? {
    if let list = value?.arrayValue { return Int(name).flatMap { list.indices.contains($0) ? list[$0] : nil } }
    return value?[name]
  }

  private static func setting(_ value: JSONValue?, at path: ArraySlice<String>, in old: JSONValue?) -> JSONValue? {
    guard let name = path.first else { return value }
    let inner = setting(value, at: path.dropFirst(), in: member(name, of: old))
    if var list = old?.arrayValue {
      // The list has no such element. The server decides what that means.
      guard let place = Int(name), list.indices.contains(place) else { return old }
      list[place] = inner ?? .null
      return .array(list)
    }
    var members = old?.objectValue ?? [:]
    if inner == nil, old?.objectValue == nil { return old }
    members[name] = inner
    return .object(members)
  }
}
