import JSON
import SmartStore
import Support

/// A hash of what a store has of a server's records. Neither their order nor the engine of the store changes it.
///
/// It is the SHA-256 over the sorted hashes of the records, of which it keeps the first 64 bits: a million of them take 8 MB.
struct SoupDigest: Sendable {
  private var hashes: [UInt64] = []

  /// - Parameter count: How many records are expected.
  init(expecting count: Int) { hashes.reserveCapacity(count) }

  /// Adds a record by its id and date.
  mutating func add(mapping: Int, id: String, stamp: String?, _ fields: TargetFields) throws {
    var text = CanonicalText()
    text.add(mapping)
    text.add(.string(id))
    text.add(stamp.flatMap { fields.dates.stamp($0) }.map { .integer($0) } ?? stamp.map { .string($0) } ?? .null)
    try add(text)
  }

  /// Adds a record by its contents.
  mutating func add(mapping: Int, _ record: JSONObject, _ fields: TargetFields) throws {
    var text = CanonicalText()
    text.add(mapping)
    text.add(fields.stamp(of: record).map { .integer($0) } ?? fields.date(of: record) ?? .null)
    text.add(fields.withoutOwnPaths(record)) { key in
      key != fields.modificationDate && key != LocalField.attributes && !LocalField.isLocalOnly(key)
    }
    try add(text)
  }

  private mutating func add(_ text: CanonicalText) throws {
    hashes.append(try Digest.sha256(text.bytes).prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Returns the hash of the records, and forgets them. Works in place, because there may be millions of them.
  mutating func finish() throws -> String {
    hashes.sort()
    for i in hashes.indices { hashes[i] = hashes[i].bigEndian }
    defer { hashes = [] }
    return try hashes.withUnsafeBytes { try "sha256:" + Digest.hex(Digest.sha256($0.bindMemory(to: UInt8.self))) }
  }
}

/// Values in a form in which equal ones have the same bytes; see ``RecordComparison``.
private struct CanonicalText {
  private(set) var bytes: [UInt8] = []

  mutating func add(_ number: Int) { add("\(number):") }

  mutating func add(_ object: JSONObject, where isAdded: (String) -> Bool) {
    add("{")
    let members = object.filter { !$0.value.isNull && isAdded($0.key) }
    for (key, value) in members.sorted(by: { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }) {
      add(.string(key))
      add(value)
    }
    add("}")
  }

  mutating func add(_ value: JSONValue) {
    switch value {
    case .null: add("n")
    case .bool(let flag): add(flag ? "t" : "f")
    case .string(let text):
      if let time = TimeStamp.milliseconds(text) { add("d\(time);") } else { add("s\(text.utf8.count):\(text)") }
    case .array(let elements):
      add("[")
      for element in elements { add(element) }
      add("]")
    case .object(let object): add(object) { $0 != LocalField.attributes }
    case .integer, .number, .decimal:
      if let integer = value.integerValue { return add("i\(integer);") }
      if case .decimal(let text) = value { return add("r\(text);") }
      add("r\(value.doubleValue ?? 0);")
    }
  }

  private mutating func add(_ text: String) { bytes += text.utf8 }
}
