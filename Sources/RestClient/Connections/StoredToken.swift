import JSON

/// How often in a row a server refused the same credentials, as stored files hold it.
package enum RefusalCount {
  /// Waits do not grow after a few refusals; a damaged file may hold any number.
  package static let most: Int64 = 1000

  package static func read(_ value: JSONValue?) -> Int { Int(max(1, min(value?.boundedInteger ?? 1, most))) }
}

/// Persisted OAuth token of a connection. The file has mode 0600 and is shared by all processes of
/// a home.
struct StoredToken: Sendable, Equatable {
  struct Refusal: Sendable, Equatable {
    let reason: String
    let message: String
    /// Seconds since 1970; nil if the refusal applies until the credentials change.
    let until: Double?
    let count: Int

    /// Seconds.
    private static let waits = [60.0, 300, 900, 3600], longestWait = 3600.0

    static func wait(after count: Int) -> Double { waits[min(max(1, count), waits.count) - 1] }

    /// If the end is further away than the longest wait, the clock was set back or the file is
    /// damaged, and the refusal no longer holds.
    func holds(at now: Double) -> Bool { until.map { now < $0 && $0 - now <= Self.longestWait } ?? true }
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
        reason: reason, message: message, until: entry["until"]?.doubleValue,
        count: RefusalCount.read(entry["count"]))
    }
  }
}
