import JSON

// The kinds of faults that the Salesforce service adds.
extension Fault {
  /// Ends the caller's session, or all sessions, before the call: 401 `INVALID_SESSION_ID`.
  public static func expireSession(all: Bool = false) -> Fault {
    Fault("expireSession", ["scope": .string(all ? "all" : "this")])
  }
  /// Revokes the refresh token before it is used: 400 `invalid_grant`.
  public static let revokeRefreshToken = Fault("revokeRefreshToken")
  /// Refuses a token request.
  public static func signInRefusal(
    _ error: String = "invalid_grant", _ description: String = "authentication failure", status: Int = 400
  ) -> Fault {
    Fault(
      "signInRefusal",
      ["error": .string(error), "description": .string(description), "status": .integer(Int64(status))])
  }
  /// Delays a refresh by this much and refuses others with the same token in the meantime: 400
  /// `invalid_grant`.
  public static func tokenBusy(milliseconds: Int, clock: Timing = .real) -> Fault {
    Fault("tokenBusy", ["milliseconds": .integer(Int64(milliseconds)), "clock": .string(clock.rawValue)])
  }
  /// Drops every open locator before a next page is fetched: 400 `INVALID_QUERY_LOCATOR`.
  public static let expireLocator = Fault("expireLocator")
  /// Answers 403 `REQUEST_LIMIT_EXCEEDED`, with `Sforce-Limit-Info` at the limit.
  public static let requestLimit = Fault("requestLimit")

  /// Fails writes with `UNABLE_TO_LOCK_ROW`, for these rows, for rows of these objects, or, if
  /// neither is given, for any row.
  ///
  /// - Parameter share: A probability, 0...1, drawn for each row.
  public static func lockRows(ids: [String] = [], objects: [String] = [], share: Double = 1) -> Fault {
    Fault(
      "lockRows",
      [
        "ids": .array(ids.map { .string($0) }), "objects": .array(objects.map { .string($0) }), "share": .number(share),
      ])
  }

  /// Fails the records at these indexes of a collection.
  public static func failItems(
    _ indexes: [Int], code: String = "FIELD_CUSTOM_VALIDATION_EXCEPTION", message: String = "refused on purpose"
  ) -> Fault {
    Fault(
      "failItems",
      ["indexes": .array(indexes.map { .integer(Int64($0)) }), "code": .string(code), "message": .string(message)])
  }

  /// Fails a share (0...1) of a collection's records, drawn from the bench's seed.
  public static func failItems(
    share: Double, code: String = "FIELD_CUSTOM_VALIDATION_EXCEPTION", message: String = "refused on purpose"
  ) -> Fault {
    Fault("failItems", ["share": .number(share), "code": .string(code), "message": .string(message)])
  }

  /// Stamps a write when it arrives and commits it later.
  ///
  /// - Parameter lost: Closes the connection at once; otherwise the response comes with the commit.
  public static func lateCommit(after moment: CommitMoment, lost: Bool = false) -> Fault {
    let answer: JSONValue = lost ? "lost" : "held"
    switch moment {
    case .requests(let count): return Fault("lateCommit", ["requests": .integer(Int64(count)), "answer": answer])
    case .seconds(let seconds): return Fault("lateCommit", ["seconds": .integer(Int64(seconds)), "answer": answer])
    }
  }

  /// Rounds the timestamps of a call's writes down to multiples of this many seconds.
  public static func equalStamps(seconds: Int) -> Fault { Fault("equalStamps", ["seconds": .integer(Int64(seconds))]) }
  /// Shifts the timestamps of a call's writes by this many seconds.
  public static func stampSkew(seconds: Int) -> Fault { Fault("stampSkew", ["seconds": .integer(Int64(seconds))]) }
}
