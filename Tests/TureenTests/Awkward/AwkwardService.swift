import JSON
import RestClient
import TestSupport

/// A server of the walks with awkward data, and its targets.
protocol AwkwardService: AnyObject, Sendable {
  /// The member with the server's id.
  var idField: String { get }
  /// The members that clients change.
  var fields: [String] { get }
  /// Whether the server stores each value as it was sent.
  var keepsValues: Bool { get }
  /// Whether the server makes this value of the one that is in an entry.
  func makes(_ stored: PlainJSON, of value: PlainJSON, _ field: String) -> Bool
  /// The connections of the host.
  var connections: [ConnectionSettings] { get }
  /// The merge modes of uploads.
  var modes: [String] { get }
  var downTarget: JSONObject { get }
  var upTarget: JSONObject { get }
  /// Members that each new entry needs, and the type for new records of a file.
  var newMembers: JSONObject { get }

  /// Empties the server.
  func begin(_ source: inout AwkwardSource) async throws
  /// The records as they are answered to any client.
  func records() async throws -> [PlainJSON]
  /// Another client's changes.
  func create(_ members: [(name: String, value: PlainJSON)]) async throws
  func change(_ record: PlainJSON, _ name: String, _ value: PlainJSON) async throws
  func delete(_ record: PlainJSON) async throws
  /// A value that the server accepts.
  func value(_ field: String, _ source: inout AwkwardSource) -> PlainJSON
  func stop() async
}

extension AwkwardService {
  var connections: [ConnectionSettings] { [] }
  var modes: [String] { ["MERGE", "LEAVE_IF_CHANGED", "OVERWRITE"] }
  var newMembers: JSONObject { [:] }
  func makes(_ stored: PlainJSON, of value: PlainJSON, _ field: String) -> Bool { value.canonical == stored.canonical }

  /// Returns the members that clients see, without those that only the server sets.
  func essence(_ record: PlainJSON) -> String {
    record.id(self) + fields.map { ", \($0.debugDescription): \(record[$0]?.canonical ?? "null")" }.joined()
  }
}
