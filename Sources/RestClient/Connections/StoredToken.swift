import JSON

/// Persisted OAuth token of a connection. The file has mode 0600 and is shared by all processes of
/// a home.
struct StoredToken: Sendable, Equatable {
  struct Refusal: Sendable, Equatable {
    let reason: String
    let message: String
    /// Seconds since 1970; nil if the refusal applies until the credentials change.
    let until: Double?
    let count: Int
  }

  /// A salted digest of the credentials that obtained the token; other credentials need another
  /// token.
  var key: String
  var salt: String
  var accessToken: String?
  /// When to renew the token, ahead of its expiry, in seconds since 1970; nil if the server did not
  /// state a lifetime.
  var renewAt: Double?
  var refusal: Refusal?

  var json: JSONValue {
    var object: JSONObject = ["version": 1, "key": .string(key), "salt": .string(salt)]
    object["accessToken"] = accessToken.map { .string($0) }
    object["renewAt"] = renewAt.map { .number($0) }
    object["refused"] = refusal.map { refusal in
      var entry: JSONObject = [
        "reason": .string(refusal.reason), "message": .string(refusal.message), "count": .integer(Int64(refusal.count)),
      ]
      entry["until"] = refusal.until.map { .number($0) }
      return .object(entry)
    }
    return .object(object)
  }

  init(key: String, salt: String) {
    self.key = key
    self.salt = salt
  }

  /// Fails for any other content; the caller treats such a file as missing.
  init?(json: JSONValue) {
    guard json["version"]?.integerValue == 1, let key = json["key"]?.stringValue, let salt = json["salt"]?.stringValue else {
      return nil
    }
    self.init(key: key, salt: salt)
    accessToken = json["accessToken"]?.stringValue
    renewAt = json["renewAt"]?.doubleValue
    if let entry = json["refused"], let reason = entry["reason"]?.stringValue, let message = entry["message"]?.stringValue {
      refusal = Refusal(
        reason: reason, message: message, until: entry["until"]?.doubleValue, count: Int(entry["count"]?.integerValue ?? 1))
    }
  }
}
