/// The keys that an object may have. Without this check, a misspelled key would be ignored silently
/// and the call would not do what was asked.
public struct KnownKeys: Sendable {
  public let names: [String]
  /// Keys that are accepted but never suggested: other programs send them, and nothing here reads
  /// them.
  private let ignored: [String]

  public init(_ names: [String], ignoring ignored: [String] = []) {
    self.names = names
    self.ignored = ignored
  }

  /// Returns the first unknown key and a complaint that follows its name in a message.
  public func unknown(in object: JSONObject) -> (key: String, complaint: String)? {
    object.keys.first { !contains($0) }.map { ($0, complaint(about: $0)) }
  }

  /// Returns the first key that differs from a known one only in letter case; for objects that may
  /// hold additional keys.
  public func misspelled(in object: JSONObject) -> (key: String, complaint: String)? {
    object.keys.first { key in
      !contains(key) && names.contains { $0.lowercased() == key.lowercased() }
    }.map { ($0, complaint(about: $0)) }
  }

  public func complaint(about key: String) -> String {
    "is not known here" + NearestName.hint(for: key, among: names)
  }

  /// Two keys are equal if their bytes are.
  private func contains(_ key: String) -> Bool {
    names.contains { $0.hasSameBytes(as: key) } || ignored.contains { $0.hasSameBytes(as: key) }
  }
}
