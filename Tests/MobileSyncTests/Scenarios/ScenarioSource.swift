import JSON
import RestClient

@testable import MobileSync
@testable import Salesforce

/// The functions of the custom targets `accounts`, down and up, over the wire: what a module of a
/// script would do.
struct ScenarioSource: CustomTargetRunner {
  let client: SalesforceClient

  func run(_ call: CustomTargetCall) async throws -> [UInt8] {
    let record = call.arguments["record"] ?? .null
    let answer: JSONObject =
      switch call.function {
      case .startFetch: try await page(client.requests.query(soql: ScenarioWorld.query))
      case .continueFetch: try await page(client.requests.queryMore(call.arguments["more"]?.stringValue ?? ""))
      case .remoteIds: ["ids": .array(try await allIds())]
      case .functions: ["functions": .array(Self.uploads.map { .string($0.rawValue) })]
      case .createOnServer: try await create(record, call.arguments["fields"] ?? [:])
      case .updateOnServer: try await update(record, call.arguments["fields"] ?? [:])
      case .deleteOnServer: try await status(of: client.requests.deleteRecord(type: "Account", id: id(record)))
      case .fetchLastModifiedDates: ["dates": .array(try await dates(call.arguments["records"]?.arrayValue ?? []))]
      default: [:]
      }
    return JSONValue.object(answer).serialized()
  }

  private func id(_ record: JSONValue) -> String { record["Id"]?.stringValue ?? "" }

  // MARK: Down

  private func allIds() async throws -> [JSONValue] {
    var ids: [JSONValue] = []
    var next: RestRequest? = client.requests.query(soql: ScenarioWorld.query)
    while let request = next {
      let answer = try await answer(request)
      ids += answer.records.map { $0["Id"] ?? .null }
      next = answer.next.map { client.requests.queryMore($0) }
    }
    return ids
  }

  private func page(_ request: RestRequest) async throws -> JSONObject {
    let answer = try await answer(request)
    return [
      "records": .array(answer.records), "totalSize": answer.total, "more": answer.next.map { .string($0) } ?? false,
    ]
  }

  private func answer(_ request: RestRequest) async throws -> (records: [JSONValue], total: JSONValue, next: String?) {
    let json = try await client.send(request).json()
    guard let records = json["records"]?.arrayValue else { throw BenchError.noSuchEntry("records") }
    return (records, json["totalSize"] ?? .null, json["nextRecordsUrl"]?.stringValue)
  }

  // MARK: Up

  private static let uploads: [CustomTargetCall.Function] = [
    .createOnServer, .updateOnServer, .deleteOnServer, .fetchLastModifiedDates,
  ]

  /// Sends the local id as the external id, so that a repetition after a lost answer finds the
  /// record.
  private func create(_ record: JSONValue, _ fields: JSONValue) async throws -> JSONObject {
    let request = client.requests.upsert(
      type: "Account", externalIdField: "External_Id__c", externalId: id(record), body: fields.serialized())
    do {
      let answer = try await client.send(request).json()
      guard answer["success"] == true, let id = answer["id"] else { throw BenchError.noSuchEntry("id") }
      return ["id": id]
    } catch let error as RestError where Self.isRefusal(error) {
      return ["id": .null, "reason": .string(error.message)]
    }
  }

  private func update(_ record: JSONValue, _ fields: JSONValue) async throws -> JSONObject {
    try await status(of: client.requests.updateRecord(type: "Account", id: id(record), body: fields.serialized()))
  }

  private func status(of request: RestRequest) async throws -> JSONObject {
    do {
      let response = try await client.send(request)
      // Only this shows that the server has the change.
      guard response.status == 204 else { throw BenchError.noSuchEntry("a status") }
      return ["status": .integer(Int64(response.status))]
    } catch let error as RestError where Self.isRefusal(error) {
      return ["status": .integer(Int64(error.status ?? 0)), "reason": .string(error.message)]
    }
  }

  /// Returns whether the server refused this record only.
  private static func isRefusal(_ error: RestError) -> Bool {
    error.code == .httpStatus && (400..<500).contains(error.status ?? 0) && ![420, 429].contains(error.status)
  }

  private func dates(_ records: [JSONValue]) async throws -> [JSONValue] {
    let request = client.requests.collectionRetrieve(
      type: "Account", ids: records.map(id), fields: ["LastModifiedDate"])
    guard let found = try await client.send(request).json().arrayValue, found.count == records.count else {
      throw BenchError.noSuchEntry("dates")
    }
    return found.map { $0.isNull ? false : $0["LastModifiedDate"] ?? .null }
  }
}
