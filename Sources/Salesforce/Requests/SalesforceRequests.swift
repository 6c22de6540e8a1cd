import JSON
import RestClient

/// Builds the requests of the Salesforce REST API for one version.
///
/// - Note: Ids, type and field names from records are encoded, so a value with `/` or `?` cannot reach another
///   resource.
public struct SalesforceRequests: Sendable {
  /// Such as `v66.0`.
  public let apiVersion: String

  public init(apiVersion: String) {
    self.apiVersion = apiVersion
  }

  /// `/services/data/v66.0`
  public var root: String { "/services/data/\(apiVersion)" }

  // MARK: Queries

  /// - Parameter batchSize: Records a page; clamped to 200...2000. The header is sent only when it is not the server's
  ///   own 2000.
  public func query(soql: String, batchSize: Int? = nil) -> RestRequest {
    let size = min(max(batchSize ?? 2000, 200), 2000)
    let headers = size == 2000 ? [] : [(name: "Sforce-Query-Options", value: "batchSize=\(size)")]
    return RestRequest(.GET, root + "/query", query: [("q", soql)], headers: headers)
  }

  /// The same with records that are deleted, as far as the recycle bin still has them.
  public func queryAll(soql: String) -> RestRequest { RestRequest(.GET, root + "/queryAll", query: [("q", soql)]) }

  /// The next page, by the address the server gave, unchanged.
  public func queryMore(_ nextRecordsUrl: String) -> RestRequest {
    RestRequest(.GET, nextRecordsUrl)
  }

  // MARK: One record

  public func createRecord(type: String, body: [UInt8]) -> RestRequest {
    RestRequest(.POST, sobject(type), body: body)
  }

  /// - Parameter unmodifiedSince: An HTTP date; the server answers 412 when the record is newer.
  public func updateRecord(
    type: String, id: String, body: [UInt8], unmodifiedSince: String? = nil
  ) -> RestRequest {
    let headers = unmodifiedSince.map { [(name: "If-Unmodified-Since", value: $0)] } ?? []
    return RestRequest(.PATCH, sobject(type, id), headers: headers, body: body)
  }

  public func deleteRecord(type: String, id: String) -> RestRequest {
    RestRequest(.DELETE, sobject(type, id))
  }

  /// - Parameter fields: Empty asks for every readable field.
  public func retrieve(type: String, id: String, fields: [String] = []) -> RestRequest {
    let query = fields.isEmpty ? [] : [(name: "fields", value: fields.joined(separator: ","))]
    return RestRequest(.GET, sobject(type, id), query: query)
  }

  /// Creates or updates by an external id. Sent again it finds what it made, so it is repeatable, except with the field
  /// `Id` and no value, which always creates.
  public func upsert(type: String, externalIdField: String, externalId: String, body: [UInt8]) -> RestRequest {
    guard !externalId.isEmpty else {
      return RestRequest(.POST, sobject(type, externalIdField), body: body)
    }
    return RestRequest(.PATCH, sobject(type, externalIdField, externalId), body: body, isRepeatable: true)
  }

  // MARK: About the org

  /// The API versions; open to everybody.
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
