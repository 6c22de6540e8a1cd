import Database
import JSON

/// The effects of faults inside the org on one request, or on the Bulk job it started. On the org's
/// queue.
struct Interference {
  /// Overrides the timestamp of writes, in seconds since 1970 UTC.
  var fixedStamp: Int64?
  private var locks: [FaultDraw] = []
  private var failures: [FaultDraw] = []
  private var granularity: Int64 = 1
  private var skew: Int64 = 0

  init() {}

  init(_ draws: [FaultDraw]) {
    for draw in draws {
      switch draw.kind {
      case "lockRows": locks.append(draw)
      case "failItems": failures.append(draw)
      case "equalStamps": granularity = Int64(draw.integer("seconds") ?? 1)
      case "stampSkew": skew += Int64(draw.integer("seconds") ?? 0)
      default: break
      }
    }
  }

  /// True if nothing affects writes.
  var leavesWritesUnchanged: Bool { fixedStamp == nil && locks.isEmpty && failures.isEmpty && granularity == 1 && skew == 0 }

  /// The effects inside an item; its parts do not count as items of the call.
  var insideItem: Interference {
    var inside = self
    inside.failures = []
    return inside
  }

  func stamp(_ seconds: Int64) -> Int64 {
    if let fixedStamp { return fixedStamp }
    let moved = seconds + skew
    return moved - moved % granularity
  }

  /// - Throws: ``SandboxError`` `UNABLE_TO_LOCK_ROW`.
  func requireUnlocked(_ id: String, of object: ObjectSchema) throws(SandboxError) {
    for draw in locks {
      let ids = draw.texts("ids").compactMap { RecordID.normalized($0) }
      let objects = draw.texts("objects").map { $0.lowercased() }
      let isIncluded = ids.isEmpty && objects.isEmpty || ids.contains(id) || objects.contains(object.name.lowercased())
      guard isIncluded, Self.happens(draw, id.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) }) else { continue }
      throw SandboxError(
        status: 400, code: "UNABLE_TO_LOCK_ROW",
        message: "unable to obtain exclusive access to this record or 1 records: \(id)", fields: [])
    }
  }

  /// Returns the failure of the item at this index, if any.
  func failure(ofItem index: Int) -> SandboxError? {
    for draw in failures {
      let indexes = draw.integers("indexes")
      guard indexes.isEmpty ? Self.happens(draw, UInt64(index)) : indexes.contains(index) else { continue }
      return SandboxError(
        status: 400, code: draw.text("code") ?? "UNKNOWN_EXCEPTION", message: draw.text("message") ?? "", fields: [])
    }
    return nil
  }

  /// Draws for each subject separately, so that its position in the request does not matter.
  private static func happens(_ draw: FaultDraw, _ thing: UInt64) -> Bool {
    var random = SeedRandom(draw.seed ^ (thing &* 0x9E37_79B9_7F4A_7C15))
    return Double(random.next() >> 11) / 0x1p53 < draw.number("share") ?? 1
  }
}

extension Org {
  /// Runs `body` under the faults of a request; some take effect before it.
  func withFaults<T>(of request: ServerRequest, _ body: () throws -> T) throws -> T {
    guard !request.faults.isEmpty else { return try body() }
    for draw in request.faults {
      switch draw.kind {
      case "expireSession" where draw.text("scope") == "all": try sessions.expireAccessTokens()
      case "expireSession": if let token = request.sessionToken { _ = try sessions.revoke(token) }
      case "revokeRefreshToken": if let token = Form(request)["refresh_token"] { _ = try sessions.revoke(token) }
      case "expireLocator": cursors.removeAll()
      default: break
      }
    }
    var given = Interference(request.faults)
    given.fixedStamp = interference.fixedStamp
    return try with(given, body)
  }

  /// Runs one item of a call with several, unless a fault fails it.
  ///
  /// - Parameter place: The index of the item, from 0.
  func item<T>(_ place: Int, _ body: () throws -> T) throws -> T {
    if let failure = interference.failure(ofItem: place) { throw failure }
    return try with(interference.insideItem, body)
  }

  /// Runs a part of a Bulk job under the faults of the request that started it.
  func withFaults<T>(ofJob id: String, _ body: () throws -> T) throws -> T {
    guard let given = jobInterference[id] else { return try body() }
    return try with(given, body)
  }

  private func with<T>(_ given: Interference, _ body: () throws -> T) rethrows -> T {
    let before = interference
    interference = given
    defer { interference = before }
    return try body()
  }
}
