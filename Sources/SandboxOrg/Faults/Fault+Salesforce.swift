import JSON

// The kinds that the Salesforce service adds.
extension Fault {
  /// 401 `INVALID_SESSION_ID`: the caller's session, or every one, ends before the call.
  public static func expireSession(all: Bool = false) -> Fault {
    Fault("expireSession", ["scope": .string(all ? "all" : "this")])
  }
  /// 400 `invalid_grant`: the refresh token that is sent is revoked before it is used.
  public static let revokeRefreshToken = Fault("revokeRefreshToken")
  /// A request for a token is refused.
  public static func signInRefusal(
    _ error: String = "invalid_grant", _ description: String = "authentication failure", status: Int = 400
  ) -> Fault {
    Fault(
      "signInRefusal",
      ["error": .string(error), "description": .string(description), "status": .integer(Int64(status))])
  }
  /// 400 `invalid_grant` for every other refresh with a token while the org works on one with it, which takes so long.
  public static func tokenBusy(milliseconds: Int, clock: Timing = .real) -> Fault {
    Fault("tokenBusy", ["milliseconds": .integer(Int64(milliseconds)), "clock": .string(clock.rawValue)])
  }
  /// 400 `INVALID_QUERY_LOCATOR`: every open locator is forgotten before a next page is fetched.
  public static let expireLocator = Fault("expireLocator")
  /// 403 `REQUEST_LIMIT_EXCEEDED`, with `Sforce-Limit-Info` at the limit.
  public static let requestLimit = Fault("requestLimit")

  /// `UNABLE_TO_LOCK_ROW` for writes of these rows, rows of these objects, or, when neither is given, any row.
  /// - Parameter share: 0...1, decided for each row by itself.
  public static func lockRows(ids: [String] = [], objects: [String] = [], share: Double = 1) -> Fault {
    Fault(
      "lockRows",
      [
        "ids": .array(ids.map { .string($0) }), "objects": .array(objects.map { .string($0) }), "share": .number(share),
      ])
  }

  /// The records at these places of a collection fail.
  public static func failItems(
    _ indexes: [Int], code: String = "FIELD_CUSTOM_VALIDATION_EXCEPTION", message: String = "refused on purpose"
  ) -> Fault {
    Fault(
      "failItems",
      ["indexes": .array(indexes.map { .integer(Int64($0)) }), "code": .string(code), "message": .string(message)])
  }

  /// A share of a collection's records, 0...1, fails; which ones, the seed decides.
  public static func failItems(
    share: Double, code: String = "FIELD_CUSTOM_VALIDATION_EXCEPTION", message: String = "refused on purpose"
  ) -> Fault {
    Fault("failItems", ["share": .number(share), "code": .string(code), "message": .string(message)])
  }

  /// A write is stamped when it comes and committed later.
  /// - Parameter lost: The connection is closed at once; else the answer comes with the commit.
  public static func lateCommit(after moment: CommitMoment, lost: Bool = false) -> Fault {
    let answer: JSONValue = lost ? "lost" : "held"
    switch moment {
    case .requests(let count): return Fault("lateCommit", ["requests": .integer(Int64(count)), "answer": answer])
    case .seconds(let seconds): return Fault("lateCommit", ["seconds": .integer(Int64(seconds)), "answer": answer])
    }
  }

  /// Stamps of a call's writes are cut to a clock with a step of so many seconds.
  public static func equalStamps(seconds: Int) -> Fault { Fault("equalStamps", ["seconds": .integer(Int64(seconds))]) }
  /// Stamps of a call's writes come from a clock that is so many seconds off.
  public static func stampSkew(seconds: Int) -> Fault { Fault("stampSkew", ["seconds": .integer(Int64(seconds))]) }
}
