import JSON

/// The read and write permissions of one object: user ids, `role:<name>`, and `*` for everyone.
struct AccessList: Sendable, Equatable {
  private(set) var subjects: [String] = []
  private var readers: IdSet = [], writers: IdSet = []

  /// Reads the wire form; only `true` grants a right. nil if the value is not an object; such a
  /// value is ignored.
  init?(_ value: JSONValue) {
    guard let object = value.objectValue else { return nil }
    for (subject, rights) in object {
      grant(subject, read: rights["read"] == true, write: rights["write"] == true)
    }
  }

  /// The master key only.
  init() {}

  mutating func grant(_ subject: String, read: Bool, write: Bool) {
    guard read || write else { return }
    if !subjects.contains(subject) { subjects.append(subject) }
    if read { readers.insert(subject) }
    if write { writers.insert(subject) }
  }

  func canRead(_ groups: [String]) -> Bool { groups.contains { readers.contains($0) } }
  func canWrite(_ groups: [String]) -> Bool { groups.contains { writers.contains($0) } }

  var json: JSONValue {
    .object(
      JSONObject(
        subjects.map { subject in
          var rights = JSONObject()
          if readers.contains(subject) { rights["read"] = true }
          if writers.contains(subject) { rights["write"] = true }
          return (subject, .object(rights))
        }))
  }
}
