import JSON
import Support

/// The JSON text of a stored entry. Its members are copied without being parsed, so their bytes stay as the server sent them.
package struct EntryText: Sendable {
  private let json: [UInt8]

  /// - Parameter json: A JSON object.
  package init(_ json: some Sequence<UInt8>) { self.json = Array(json) }

  /// Calls `body` with the key, including its quotes, and the value of each member.
  package func forEachMember(_ body: (_ key: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) throws -> Void) rethrows {
    guard json.first == UInt8(ascii: "{") else { return }
    var scanner = ElementScanner(json, at: 1)
    while scanner.beginsMember() {
      let key = scanner.skipValue()
      scanner.skipColon()
      try body(key, scanner.skipValue())
    }
  }

  /// Appends the entry without the fields of the store and its syncs.
  package func appendRecord(to out: inout [UInt8]) {
    var isFirst = true
    out.append(UInt8(ascii: "{"))
    forEachMember { key, value in
      guard !OwnField.contains(ResultCell(key).text) else { return }
      if !isFirst { out.append(UInt8(ascii: ",")) }
      isFirst = false
      out.append(contentsOf: key)
      out.append(UInt8(ascii: ":"))
      out.append(contentsOf: value)
    }
    out.append(UInt8(ascii: "}"))
  }

  package func append(to out: inout [UInt8]) { out.append(contentsOf: json) }

  /// A member that is not an object with members, as a CSV file has it.
  package struct Leaf: Sendable {
    /// The keys that lead to it. They may have dots, so the column does not tell them.
    package let keys: [String]
    /// The text of its cell.
    package let text: String
  }

  /// Calls `body` with the path and the value of each member that is not an object with members. Paths of nested members are
  /// dotted, like `Account.Name`.
  /// - Parameter withOwnFields: Whether to include the fields of the store and its syncs.
  package func forEachLeaf(withOwnFields: Bool, _ body: (_ path: String, _ value: ResultCell) -> Void) {
    forEachLeaf(of: [], "", withOwnFields) { _, _, path, value in body(path, value) }
  }

  /// The entry's cells in a CSV file, by column. Of members with one path, the last one.
  package var leaves: IdMap<Leaf> {
    var leaves: IdMap<Leaf> = [:]
    forEachLeaf(of: [], "", true) { parents, name, path, value in
      leaves[path] = Leaf(keys: parents + [name], text: value.text)
    }
    return leaves
  }

  /// - Parameters:
  ///   - parents: The keys that lead to this object.
  ///   - prefix: The same as the beginning of a path.
  private func forEachLeaf(
    of parents: [String], _ prefix: String, _ withOwnFields: Bool,
    _ body: (_ parents: [String], _ name: String, _ path: String, _ value: ResultCell) -> Void
  ) {
    forEachMember { key, value in
      let name = ResultCell(key).text
      guard withOwnFields || !parents.isEmpty || !OwnField.contains(name) else { return }
      if value.first == UInt8(ascii: "{"), !value.dropFirst().allSatisfy({ $0 == UInt8(ascii: "}") || $0.isASCIIWhitespace }) {
        EntryText(value).forEachLeaf(of: parents + [name], prefix + name + ".", withOwnFields, body)
      } else {
        body(parents, name, prefix + name, ResultCell(value))
      }
    }
  }
}

/// The fields that the store and its syncs add to an entry.
package enum OwnField {
  package static func contains(_ name: String) -> Bool {
    name.hasPrefix("_soup") || name.hasPrefix("__") && name.hasSuffix("__")
  }
}

/// Determines the columns of a CSV file of entries: all paths that occur in them, in the order of their first occurrence.
package struct EntryColumns: Sendable {
  private var order: [String] = []
  /// Whether a column has a value that is not null.
  private var isUsed: IdMap<Bool> = [:]

  package init() {}

  package mutating func note(_ entry: EntryText, withOwnFields: Bool) {
    entry.forEachLeaf(withOwnFields: withOwnFields) { path, value in
      if isUsed[path] == nil { order.append(path) }
      if isUsed[path] != true { isUsed[path] = value.kind != .null }
    }
  }

  /// The columns' names. A parent that is null in some entries and an object in others has columns only for its members.
  package var names: [String] {
    let parents = IdSet(order.flatMap(CellPath.parents))
    return order.filter { isUsed[$0] == true || !parents.contains($0) }
  }
}
