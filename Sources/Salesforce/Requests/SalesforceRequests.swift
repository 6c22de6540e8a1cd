import JSON
import RestClient

/// Builds requests for one version of the Salesforce REST API.
///
/// - Note: Ids, type and field names are percent-encoded, so a value with `/` or `?` cannot address another resource.
public struct SalesforceRequests: Sendable {
  /// The version, such as `v66.0`.
  public let apiVersion: String

  public init(apiVersion: String) {
    self.apiVersion = apiVersion
  }

  /// The path of the version, such as `/services/data/v66.0`.
  public var root: String { "/services/data/\(apiVersion)" }

  // MARK: Queries

  /// - Parameter batchSize: The records per page, clamped to 200...2000. The header is sent only if it differs from the
  ///   server's default of 2000.
  public func query(soql: String, batchSize: Int? = nil) -> RestRequest {
    let size = min(max(batchSize ?? 2000, 200), 2000)
    let headers = size == 2000 ? [] : [(name: "Sforce-Query-Options", value: "batchSize=\(size)")]
    return RestRequest(.GET, root + "/query", query: [("q", soql)], headers: headers)
  }

  /// Runs a query that includes the records in the recycle bin.
  public func queryAll(soql: String) -> RestRequest { RestRequest(.GET, root + "/queryAll", query: [("q", soql)]) }

  /// Gets the next page of a query, by the unchanged URL from the previous page.
  public func queryMore(_ nextRecordsUrl: String) -> RestRequest {
    RestRequest(.GET, nextRecordsUrl)
  }

  // MARK: One record

  public func createRecord(type: String, body: [UInt8]) -> RestRequest {
    RestRequest(.POST, sobject(type), body: body)
  }

  /// - Parameter unmodifiedSince: An HTTP date; the server responds with 412 if the record is newer.
  public func updateRecord(
    type: String, id: String, body: [UInt8], unmodifiedSince: String? = nil
  ) -> RestRequest {
    let headers = unmodifiedSince.map { [(name: "If-Unmodified-Since", value: $0)] } ?? []
    return RestRequest(.PATCH, sobject(type, id), headers: headers, body: body)
  }

  public func deleteRecord(type: String, id: String) -> RestRequest {
    RestRequest(.DELETE, sobject(type, id))
  }

  /// - Parameter fields: An empty list retrieves every readable field.
  public func retrieve(type: String, id: String, fields: [String] = []) -> RestRequest {
    let query = fields.isEmpty ? [] : [(name: "fields", value: fields.joined(separator: ","))]
    return RestRequest(.GET, sobject(type, id), query: query)
  }

  /// Creates or updates a record by its external id. The request is idempotent, except without a value: then it always creates
  /// a record.
  public func upsert(type: String, externalIdField: String, externalId: String, body: [UInt8]) -> RestRequest {
    guard !externalId.isEmpty else {
      return RestRequest(.POST, sobject(type, externalIdField), body: body)
    }
    return RestRequest(.PATCH, sobject(type, externalIdField, externalId), body: body, isRepeatable: true)
  }

  // MARK: About the org

  /// Lists the API versions, without authentication.
  public func versions() -> RestRequest {
    RestRequest(.GET, "/services/data", requiresAuthentication: false)
  }

  public func resources() -> RestRequest { RestRequest(.GET, root) }

  public func limits() -> RestRequest { RestRequest(.GET, root + "/limits") }

  public func describe(type: String) -> RestRequest { RestRequest(.GET, sobject(type, "describe")) }

  func sobject(_ segments: String...) -> String {
    root + "/sobjects" + segments.map { "/" + PercentEncoding.encode($0) }.joined()
  }
}
