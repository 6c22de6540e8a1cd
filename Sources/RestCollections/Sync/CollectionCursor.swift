import JSON

/// The position of an interrupted walk, stored along with the last stored page.
struct CollectionCursor: Sendable {
  let walk: WalkState
  let tracker: JSONObject
  let isIncremental: Bool
  let startedMs: Int64
  let elapsedMs: Int64

  static func json(
    _ walk: JSONObject, _ tracker: JSONObject, _ timer: WalkTimer, isIncremental: Bool
  ) -> JSONObject {
    [
      "walk": .object(walk), "tracker": .object(tracker), "incremental": .bool(isIncremental),
      "startedMs": .integer(timer.startedMs), "elapsedMs": .integer(timer.elapsedMs),
    ]
  }

  /// Fails if the target has changed since, if the cursor is too old, or if the JSON is not a
  /// cursor.
  init?(_ json: JSONObject, _ target: RestTarget, nowMs: Int64, ofAnyAge: Bool) {
    guard let walk = json["walk"]?.objectValue.flatMap({ WalkState($0, target, nowMs: nowMs, ofAnyAge: ofAnyAge) }),
      let startedMs = json["startedMs"]?.boundedInteger
    else { return nil }
    self.walk = walk
    self.startedMs = startedMs
    tracker = json["tracker"]?.objectValue ?? [:]
    isIncremental = json["incremental"]?.boolValue ?? false
    elapsedMs = max(0, json["elapsedMs"]?.boundedInteger ?? 0)
  }
}
