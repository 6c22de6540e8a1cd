import JSON

/// One thing that `doctor` looks at, and what to do about it.
public struct HealthCheck: Sendable, Equatable {
  public enum Status: String, Sendable, CaseIterable {
    case ok
    /// Worth to know.
    case note
    /// Will break, or costs time.
    case warn
    /// Does not work.
    case fail
    /// Not checked; the text says why.
    case skipped
  }

  /// The part of Tureen: `config`, `home`, `store`, `sync`, `net`, `auth` or `clock`.
  public let name: String
  public var status: Status
  public var text: String
  /// The remedy, as a command where there is one; nil if nothing is to be done.
  public var fix: String?
  public var details: JSONObject

  public init(_ name: String, _ status: Status, _ text: String, fix: String? = nil, _ details: JSONObject = [:]) {
    (self.name, self.status, self.text, self.fix, self.details) = (name, status, text, fix, details)
  }

  public var json: JSONObject {
    [
      "name": .string(name), "status": .string(status.rawValue), "text": .string(text),
      "fix": fix.map { .string($0) } ?? .null, "details": .object(details),
    ]
  }
}
