import JSON
import RestClient

/// sObject Collections: up to 200 records per request (2,000 to retrieve), with the results in the order of the records.
extension SalesforceRequests {
  /// - Parameter records: The text of a JSON array of records, each with its `attributes`.
  public func collectionCreate(records: [UInt8], allOrNone: Bool = false) -> RestRequest {
    RestRequest(.POST, collections, body: collectionBody(records, allOrNone))
  }

  /// - Parameter records: As for a create, each with its `Id`.
  public func collectionUpdate(records: [UInt8], allOrNone: Bool = false) -> RestRequest {
    RestRequest(.PATCH, collections, body: collectionBody(records, allOrNone))
  }

  /// - Parameter records: Records of `type`, each with its value of `externalIdField`.
  /// - Note: Idempotent, because a second attempt finds the records of the first; except by `Id`, because every request creates
  ///   the records that have none.
  public func collectionUpsert(
    type: String, externalIdField: String, records: [UInt8], allOrNone: Bool = false
  ) -> RestRequest {
    RestRequest(
      .PATCH, collections + "/" + PercentEncoding.encode(type) + "/" + PercentEncoding.encode(externalIdField),
      body: collectionBody(records, allOrNone), isRepeatable: !externalIdField.equalsIgnoringCase("Id"))
  }

  /// - Note: Deleting a record twice results in an item error, so a repeated request may report `ENTITY_IS_DELETED` for records
  ///   that the first one deleted. Both results mean that the record is gone.
  public func collectionDelete(ids: [String], allOrNone: Bool = false) -> RestRequest {
    RestRequest(
      .DELETE, collections, query: [("allOrNone", allOrNone ? "true" : "false"), ("ids", ids.joined(separator: ","))])
  }

  /// Retrieves records by id. A POST request, because 2,000 ids do not fit into a URL.
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
