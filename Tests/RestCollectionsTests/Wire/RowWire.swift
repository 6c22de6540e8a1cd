import JSON
import TestSupport

@testable import RestCollections

/// The format of a ``CollectionServer``'s rows on the wire.
struct RowWire: Sendable {
  enum Dates: String, CaseIterable, Sendable { case iso8601, epoch, none }
  enum Answers: String, CaseIterable, Sendable { case record, id, nothing }

  /// Whether id, date and revision are in an object `sys`.
  var isNested = false
  var dates = Dates.iso8601
  /// The content of successful responses to writes.
  var answers = Answers.record

  private static let inside = ["id", "updated_at", "rev"]

  func shown(_ row: JSONObject) -> JSONObject {
    var row = row
    switch dates {
    case .iso8601: break
    case .epoch:
      let date = row["updated_at"]?.stringValue.flatMap { DateFormat.iso8601.date($0.utf8, zone: .utc) }
      row["updated_at"] = date.map { .integer($0.position / 1000) }
    case .none: row["updated_at"] = nil
    }
    guard isNested else { return row }
    var shown: JSONObject = ["sys": .object(row.filtered { Self.inside.contains($0.key) })]
    for (key, value) in row where !Self.inside.contains(key) { shown[key] = value }
    return shown
  }

  /// Returns the body of a request without the members that only the server sets.
  func taken(_ body: JSONObject) -> JSONObject { isNested ? body.filtered { $0.key != "sys" } : body }

  func answer(to row: JSONObject, status: Int, headers: [(name: String, value: String)]) -> ScriptedAnswer {
    switch answers {
    case .record: .json(JSONValue.object(shown(row)).text, status: status, headers: headers)
    case .id: .json(JSONValue.object(["ok": true, "ref": row["id"] ?? .null]).text, status: status, headers: headers)
    case .nothing: .status(status == 200 ? 204 : status, headers: headers)
    }
  }
}
