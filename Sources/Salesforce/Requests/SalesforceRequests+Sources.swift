import RestClient

/// Requests other than queries that return records.
extension SalesforceRequests {
  /// - Parameter sosl: A search such as `FIND {Joe} IN NAME FIELDS RETURNING Account(Id, Name)`.
  public func search(sosl: String) -> RestRequest { RestRequest(.GET, root + "/search", query: [("q", sosl)]) }

  /// Gets the records that the user viewed most recently, in `recentItems`, and a short description of the type.
  public func recentItems(type: String) -> RestRequest { RestRequest(.GET, sobject(type)) }

  /// Gets a page layout. The server chooses the parameters that are nil or empty.
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

  /// Gets one page of the records that match the user's briefcase rules.
  /// - Parameters:
  ///   - relayToken: The token from the previous page; nil for the first page.
  ///   - changedAfter: A time such as `2021-08-23T18:42:32.000Z`; nil for all records.
  public func primingRecords(relayToken: String? = nil, changedAfter: String? = nil) -> RestRequest {
    var query: [(name: String, value: String)] = []
    if let relayToken { query.append(("relayToken", relayToken)) }
    if let changedAfter { query.append(("changedAfterTimestamp", changedAfter)) }
    return RestRequest(.GET, root + "/connect/briefcase/priming-records", query: query)
  }

  /// Gets the records of a type that were deleted between two times, in `deletedRecords`.
  /// - Parameter start: A time such as `2021-08-23T18:42:32+00:00`; `end` has the same form and is later.
  public func deletedRecords(type: String, start: String, end: String) -> RestRequest {
    RestRequest(.GET, sobject(type, "deleted"), query: [("start", start), ("end", end)])
  }
}
