import JSON

/// What is kept of a user's sign-in: the session, and why the login host last refused another one. Version 2 of `session.json`.
///
/// All processes of a home share it, so that one refusal is one for all of them.
public struct KeptSession: Sendable, Equatable {
  /// Why the login host refused, and until when it is not asked again.
  public struct Refusal: Sendable, Equatable {
    /// A ``SignInReason``, or a word of a later release.
    public var reason: String
    public var message: String
    /// Seconds since 1970; nil stands until other credentials are used, or a person signs in.
    public var until: Double?
    /// Refusals of the same credentials, one after the other.
    public var count: Int
    /// A salted digest of what was sent: other credentials are asked at once.
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
  /// Seconds since 1970: when the login host was last asked because the instance could not be reached.
  public var unreachableAt: Double?
  /// What a later release has put there, carried along.
  private var others: JSONObject = [:]

  static let version: Int64 = 2

  public init(session: Session? = nil, refusal: Refusal? = nil) {
    self.session = session
    self.refusal = refusal
  }
}

extension KeptSession {
  /// For the file or the program that keeps it. Holds the tokens in clear.
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

  /// Reads what was kept; files of releases before the first version hold a session alone.
  /// - Returns: Nil for what holds neither a session nor a refusal: it is as good as none.
  public init?(json: JSONValue) {
    guard case .object(var object) = json else { return nil }
    session = Session(json: json)
    refusal = Refusal(json: object["refused"])
    guard session != nil || refusal != nil else { return nil }
    unreachableAt = object["unreachableAt"]?.doubleValue
    for key in Session.keys + ["refused", "unreachableAt"] { object[key] = nil }
    // A later version stays what it was: what it means is carried along.
    if object["version"]?.integerValue ?? 0 <= Self.version { object["version"] = nil }
    others = object
  }
}

extension KeptSession.Refusal {
  fileprivate init?(json: JSONValue?) {
    guard let reason = json?["reason"]?.stringValue, let message = json?["message"]?.stringValue,
      let key = json?["key"]?.stringValue
    else { return nil }
    self.init(
      reason: reason, message: message, until: json?["until"]?.doubleValue,
      count: Int(clamping: json?["count"]?.integerValue ?? 1), key: key)
  }
}
