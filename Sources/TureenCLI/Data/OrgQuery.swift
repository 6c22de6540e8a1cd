import JSON
import Tureen

/// SOQL that the org runs, read page by page.
struct OrgQuery {
  let calls: BridgeCalls
  let soql: String

  /// Objects inside a record become columns with a path, such as `Account.Name`; lists of children stay JSON.
  func run(_ rows: inout RowOutput) throws {
    let version = try calls.host.summary().apiVersion
    var answer = try ask("/services/data/\(version)/query", ["q": .string(soql)])
    var names: [String] = []
    while true {
      let records = answer["records"]?.arrayValue ?? []
      if !rows.hasBegun {
        names = columns(records)
        rows.begin(names)
        // SELECT COUNT() returns a number and no records.
        if records.isEmpty, let total = answer["totalSize"], total.integerValue != 0 { try rows.row([ResultCell(total)]) }
      }
      for record in records { try rows.row(names.map { ResultCell(Self.value(record, $0)) }) }
      try rows.pageEnds()
      guard answer["done"]?.boolValue == false else { return }
      guard let next = answer["nextRecordsUrl"]?.stringValue, !next.isEmpty else {
        throw CommandFailure("the org's answer is not the whole result: it is not done and has no 'nextRecordsUrl'")
      }
      answer = try ask(next, [:])
    }
  }

  private func ask(_ path: String, _ parameters: JSONObject) throws -> JSONValue {
    try calls.value("network", "pgSendRequest", ["path": .string(path), "queryParams": .object(parameters), "expects": "json"])
  }

  /// The columns in the query, or those of the records if the query does not name them, as for aggregates.
  private func columns(_ records: [JSONValue]) -> [String] {
    let named = SelectList(soql, isSOQL: true).names.compactMap { $0 }
    let found = Self.union(records.map(Self.paths))
    guard !records.isEmpty else { return named.map { $0.lowercased() == "count()" ? "count" : $0 } }
    var result: [String] = []
    for name in named {
      // The org's records use the spelling of the schema.
      if let exact = found.first(where: { $0.lowercased() == name.lowercased() }) {
        result.append(exact)
      } else if Self.isPath(name) {
        result.append(name)
      } else {
        return found
      }
    }
    return result
  }

  private static func isPath(_ name: String) -> Bool {
    name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
  }

  private static func union(_ lists: [[String]]) -> [String] {
    var seen: Set<String> = []
    return lists.joined().filter { seen.insert($0).inserted }
  }

  private static func paths(_ record: JSONValue) -> [String] {
    (record.objectValue ?? [:]).flatMap { key, value -> [String] in
      if key == "attributes" { return [] }
      // A value with `records` is a list of children.
      guard value.objectValue != nil, value["records"] == nil else { return [key] }
      return paths(value).map { "\(key).\($0)" }
    }
  }

  private static func value(_ record: JSONValue, _ path: String) -> JSONValue {
    path.split(separator: ".").reduce(Optional(record)) { value, name in
      value?.objectValue?.first { $0.key.lowercased() == name.lowercased() }?.value
    } ?? .null
  }
}
