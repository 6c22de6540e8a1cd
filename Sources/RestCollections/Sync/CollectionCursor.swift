import JSON

/// Where an interrupted walk stands, as it is kept with the last page that was stored.
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

  /// nil when the target has changed since, when the cursor is too old, and when it is none.
  init?(_ json: JSONObject, _ target: RestTarget, nowMs: Int64, ofAnyAge: Bool) {
    guard let walk = json["walk"]?.objectValue.flatMap({ WalkState($0, target, nowMs: nowMs, ofAnyAge: ofAnyAge) }),
      let startedMs = json["startedMs"]?.integerValue
    else { return nil }
    self.walk = walk
    self.startedMs = startedMs
    tracker = json["tracker"]?.objectValue ?? [:]
    isIncremental = json["incremental"]?.boolValue ?? false
    elapsedMs = max(0, json["elapsedMs"]?.integerValue ?? 0)
  }
}
