import JSON
import SmartStore

/// The result of a run as the history keeps it. No store, network or clock.
struct RunSummary: Sendable {
  var counts: JSONObject
  var error: SyncError?
  /// An error that is known as text alone.
  var errorText = ""
  var limitInfo = ""
  var warnings: [String] = []
  /// What a comparison with the server came to: its level, and whether the soup had all of it.
  var verified: JSONObject?

  init(_ state: SyncState) {
    counts = JSONObject(SyncCounts.fields.map { ($0.name, .integer(Int64(state.counts[keyPath: $0.path]))) })
    error = state.failure
    errorText = state.status == .failed ? state.error : ""
    limitInfo = state.limitInfo
    warnings = state.warnings
  }

  init(counts: JSONObject, error: SyncError?) {
    (self.counts, self.error) = (counts, error)
  }

  /// Returns the JSON text. Messages and warnings may quote values of records.
  func text(_ level: HistoryLevel) -> String {
    var json: JSONObject = ["counts": .object(counts.filtered { $1 != .integer(0) })]
    if let verified { json["verified"] = .object(verified) }
    let hasTexts = level == .all
    if let error {
      json["error"] = [
        "domain": .string(error.domain), "code": .string(error.code), "retryable": .bool(error.isRetryable),
        "message": hasTexts ? .string(HistoryText.cut(error.message)) : .null,
      ]
    } else if !errorText.isEmpty {
      json["error"] = ["message": hasTexts ? .string(HistoryText.cut(errorText)) : .null]
    }
    if !limitInfo.isEmpty { json["limitInfo"] = .string(limitInfo) }
    if hasTexts, !warnings.isEmpty { json["warnings"] = .array(warnings.prefix(20).map { .string(HistoryText.cut($0)) }) }
    return JSONValue.object(json).text
  }
}
