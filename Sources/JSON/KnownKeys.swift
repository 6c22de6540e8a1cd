/// The keys an object may have. A key that is misspelled would otherwise be left out silently, and something else be done than
/// was asked for.
public struct KnownKeys: Sendable {
  public let names: [String]
  /// Taken without a word and never offered: what other programs send and nothing here reads.
  private let ignored: [String]

  public init(_ names: [String], ignoring ignored: [String] = []) {
    self.names = names
    self.ignored = ignored
  }

  /// The first key that is not known, and what to say about it behind its name.
  public func unknown(in object: JSONObject) -> (key: String, complaint: String)? {
    object.keys.first { !contains($0) }.map { ($0, complaint(about: $0)) }
  }

  /// A key that differs from a known one in nothing but letter case: for objects that may hold further keys.
  public func misspelled(in object: JSONObject) -> (key: String, complaint: String)? {
    object.keys.first { key in
      !contains(key) && names.contains { $0.lowercased() == key.lowercased() }
    }.map { ($0, complaint(about: $0)) }
  }

  public func complaint(about key: String) -> String {
    "is not known here" + NearestName.hint(for: key, among: names)
  }

  /// Keys are the same when their bytes are.
  private func contains(_ key: String) -> Bool {
    names.contains { $0.hasSameBytes(as: key) } || ignored.contains { $0.hasSameBytes(as: key) }
  }
}
