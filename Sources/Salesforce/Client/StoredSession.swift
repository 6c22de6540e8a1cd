import JSON
import RestClient

/// The stored state of a user's sign-in: the session, and the login host's last refusal. Version 2 of `session.json`.
///
/// All processes with the same home share it, so that none of them repeats a sign-in that was refused.
public struct StoredSession: Sendable, Equatable {
  /// A refusal by the login host: the reason, and when the next attempt is allowed.
  public struct Refusal: Sendable, Equatable {
    /// A ``SignInReason``, or a value that a later release has written.
    public var reason: String
    public var message: String
    /// When the refusal expires, in seconds since 1970. nil: it holds until the credentials change or a person signs in.
    public var until: Double?
    /// The number of consecutive refusals of the same credentials.
    public var count: Int
    /// A salted digest of the refused credentials. The refusal does not apply to other ones.
    public var key: String

    public init(reason: String, message: String, until: Double?, count: Int, key: String) {
      self.reason = reason
      self.message = message
      self.until = until
      self.count = count
      self.key = key
    }
  }

  public var session: Session?
  public var refusal: Refusal?
  /// When the login host was last asked because the instance was unreachable, in seconds since 1970.
  public var unreachableAt: Double?
  /// Members that a later release has written; they are preserved.
  private var others: JSONObject = [:]

  static let version: Int64 = 2

  public init(session: Session? = nil, refusal: Refusal? = nil) {
    self.session = session
    self.refusal = refusal
  }
}

extension StoredSession {
  /// The stored form. Contains the tokens in clear text.
  public var json: JSONValue {
    var object = others
    if case .object(let known)? = session?.json {
      for (key, value) in known { object[key] = value }
    }
    object["version"] = .integer(max(Self.version, others["version"]?.integerValue ?? 0))
    object["refused"] = refusal.map { refusal in
      var entry: JSONObject = [
        "reason": .string(refusal.reason), "message": .string(refusal.message), "count": .integer(Int64(refusal.count)),
        "key": .string(refusal.key),
      ]
      entry["until"] = refusal.until.map { .number($0) }
      return .object(entry)
    }
    object["unreachableAt"] = unreachableAt.map { .number($0) }
    return .object(object)
  }

  /// Reads the stored form. Unversioned files of early releases hold only a session.
  /// - Returns: nil if there is neither a session nor a refusal.
  public init?(json: JSONValue) {
    guard case .object(var object) = json else { return nil }
    session = Session(json: json)
    refusal = Refusal(json: object["refused"])
    guard session != nil || refusal != nil else { return nil }
    unreachableAt = object["unreachableAt"]?.doubleValue
    for key in Session.keys + ["refused", "unreachableAt"] { object[key] = nil }
    // Keep the number of a later version, because its members are kept as well.
    if object["version"]?.integerValue ?? 0 <= Self.version { object["version"] = nil }
    others = object
  }
}

extension StoredSession.Refusal {
  fileprivate init?(json: JSONValue?) {
    guard let reason = json?["reason"]?.stringValue, let message = json?["message"]?.stringValue,
      let key = json?["key"]?.stringValue
    else { return nil }
    self.init(
      reason: reason, message: message, until: json?["until"]?.doubleValue,
      count: RefusalCount.read(json?["count"]), key: key)
  }
}
