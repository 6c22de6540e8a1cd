import JSON
import RestClient

/// sObject Collections: up to 200 records a call (2,000 to retrieve), answered in the order they were sent.
extension SalesforceRequests {
  /// - Parameter records: The text of a JSON array of records, each with its `attributes`.
  public func collectionCreate(records: [UInt8], allOrNone: Bool = false) -> RestRequest {
    RestRequest(.POST, collections, body: collectionBody(records, allOrNone))
  }

  /// - Parameter records: As for a create, each with its `Id`.
  public func collectionUpdate(records: [UInt8], allOrNone: Bool = false) -> RestRequest {
    RestRequest(.PATCH, collections, body: collectionBody(records, allOrNone))
  }

  /// - Parameter records: All of `type`, each with its value of `externalIdField`.
  /// - Note: Repeatable, because the second try finds what the first made; not by `Id`, where a record without one is
  ///   created each time.
  public func collectionUpsert(
    type: String, externalIdField: String, records: [UInt8], allOrNone: Bool = false
  ) -> RestRequest {
    RestRequest(
      .PATCH, collections + "/" + PercentEncoding.encode(type) + "/" + PercentEncoding.encode(externalIdField),
      body: collectionBody(records, allOrNone), isRepeatable: !externalIdField.equalsIgnoringCase("Id"))
  }

  /// - Note: Deleting a deleted record answers with an item error, so a repeated call can say `ENTITY_IS_DELETED` for
  ///   what the first one deleted: both mean that the record is gone.
  public func collectionDelete(ids: [String], allOrNone: Bool = false) -> RestRequest {
    RestRequest(
      .DELETE, collections, query: [("allOrNone", allOrNone ? "true" : "false"), ("ids", ids.joined(separator: ","))])
  }

  /// A POST that only reads: the ids of 2,000 records do not fit in a URL.
  public func collectionRetrieve(type: String, ids: [String], fields: [String]) -> RestRequest {
    let body: JSONValue = .object([
      "ids": .array(ids.map { .string($0) }), "fields": .array(fields.map { .string($0) }),
    ])
    return RestRequest(
      .POST, collections + "/" + PercentEncoding.encode(type), body: body.serialized(), isRepeatable: true)
  }

  private var collections: String { root + "/composite/sobjects" }

  private func collectionBody(_ records: [UInt8], _ allOrNone: Bool) -> [UInt8] {
    Array("{\"allOrNone\":\(allOrNone),\"records\":".utf8) + records + Array("}".utf8)
  }
}
