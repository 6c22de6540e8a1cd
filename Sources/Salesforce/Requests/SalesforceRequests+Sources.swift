import RestClient

/// Where records come from beside queries.
extension SalesforceRequests {
  /// - Parameter sosl: Such as `FIND {Joe} IN NAME FIELDS RETURNING Account(Id, Name)`.
  public func search(sosl: String) -> RestRequest { RestRequest(.GET, root + "/search", query: [("q", sosl)]) }

  /// What the user looked at last, as `recentItems`, beside a short description of the type.
  public func recentItems(type: String) -> RestRequest { RestRequest(.GET, sobject(type)) }

  /// How a type is laid out for the user. Parameters that are nil or empty are left to the server.
  public func layout(
    type: String, formFactor: String? = nil, layoutType: String? = nil, mode: String? = nil, recordTypeId: String? = nil
  ) -> RestRequest {
    let parameters = [
      ("formFactor", formFactor), ("layoutType", layoutType), ("mode", mode), ("recordTypeId", recordTypeId),
    ]
    return RestRequest(
      .GET, root + "/ui-api/layout/" + PercentEncoding.encode(type),
      query: parameters.compactMap { name, value in
        value.flatMap { $0.isEmpty ? nil : (name: name, value: $0) }
      })
  }

  /// One page of the records that the user's briefcase rules name.
  /// - Parameters:
  ///   - relayToken: Of the page before; nil for the first one.
  ///   - changedAfter: A time such as `2021-08-23T18:42:32.000Z`; nil for all records.
  public func primingRecords(relayToken: String? = nil, changedAfter: String? = nil) -> RestRequest {
    var query: [(name: String, value: String)] = []
    if let relayToken { query.append(("relayToken", relayToken)) }
    if let changedAfter { query.append(("changedAfterTimestamp", changedAfter)) }
    return RestRequest(.GET, root + "/connect/briefcase/priming-records", query: query)
  }

  /// The records of a type that were deleted in a span of time, as `deletedRecords`.
  /// - Parameter start: A time such as `2021-08-23T18:42:32+00:00`; `end` likewise, and later.
  public func deletedRecords(type: String, start: String, end: String) -> RestRequest {
    RestRequest(.GET, sobject(type, "deleted"), query: [("start", start), ("end", end)])
  }
}
