import JSON
import SandboxServer

/// Tracks each caller's rate limits: the primary limit per window, and the secondary limits of
/// points and writes. Times are seconds since 1970 UTC by the server's clock.
struct RateLimits: Sendable {
  enum Resource: String, Sendable, CaseIterable { case core, search }

  /// A window of the primary limit.
  struct Window: Sendable {
    var limit: Int
    var used = 0
    var reset: Int64
    var remaining: Int { max(0, limit - used) }
  }

  private struct Spending: Sendable {
    let time: Int64
    let points: Int
    let isWrite: Bool
  }
  private struct Key: Hashable, Sendable {
    let caller: String
    let resource: Resource
  }

  private var windows: [Key: Window] = [:]
  private var spendings: [String: [Spending]] = [:]

  /// - Parameter caller: A login; empty without a token.
  mutating func window(_ caller: String, _ resource: Resource, _ settings: ForgeSettings, at now: Int64) -> Window {
    let key = Key(caller: caller, resource: resource)
    let limit = Self.limit(of: caller, resource, settings)
    if var known = windows[key], known.reset > now {
      known.limit = limit
      return known
    }
    let length = resource == .search ? Tuning.searchWindowSeconds : Int64(settings.windowSeconds)
    let window = Window(limit: limit, reset: now + length)
    windows[key] = window
    return window
  }

  /// Counts a request.
  ///
  /// - Returns: The updated window.
  mutating func count(_ caller: String, _ resource: Resource, _ settings: ForgeSettings, at now: Int64) -> Window {
    var window = window(caller, resource, settings, at: now)
    window.used += 1
    windows[Key(caller: caller, resource: resource)] = window
    return window
  }

  private static func limit(of caller: String, _ resource: Resource, _ settings: ForgeSettings) -> Int {
    switch resource {
    case .core: caller.isEmpty ? settings.anonymousRequests : settings.signedInRequests
    case .search: caller.isEmpty ? Tuning.anonymousSearches : Tuning.signedInSearches
    }
  }

  // MARK: Secondary

  /// Spends the points of a request. Returns nil on success, else the seconds until enough points
  /// are available.
  mutating func spend(_ caller: String, isWrite: Bool, _ settings: ForgeSettings, at now: Int64) -> Int64? {
    var known = (spendings[caller] ?? []).filter { $0.time > now - 3_600 }
    defer { spendings[caller] = known }
    let points = isWrite ? 5 : 1
    let recent = known.filter { $0.time > now - 60 }
    let spent = recent.reduce(0) { $0 + $1.points }
    let tooMany = settings.pointsPerMinute > 0 && spent + points > settings.pointsPerMinute
    let tooManyWrites =
      isWrite && settings.writesPerMinute > 0 && recent.filter(\.isWrite).count >= settings.writesPerMinute
    if tooMany || tooManyWrites { return max(1, (recent.first?.time ?? now) + 60 - now) }
    let writes = known.filter(\.isWrite)
    if isWrite, settings.writesPerHour > 0, writes.count >= settings.writesPerHour {
      return max(1, (writes.first?.time ?? now) + 3_600 - now)
    }
    known.append(Spending(time: now, points: points, isWrite: isWrite))
    return nil
  }
}

extension RateLimits.Window {
  func headers(_ resource: RateLimits.Resource) -> [(name: String, value: String)] {
    [
      ("x-ratelimit-limit", "\(limit)"), ("x-ratelimit-remaining", "\(remaining)"), ("x-ratelimit-used", "\(used)"),
      ("x-ratelimit-reset", "\(reset)"), ("x-ratelimit-resource", resource.rawValue),
    ]
  }

  var json: JSONValue {
    [
      "limit": .integer(Int64(limit)), "used": .integer(Int64(used)), "remaining": .integer(Int64(remaining)),
      "reset": .integer(reset),
    ]
  }
}

/// Counts wrong tokens. A client that tries several is refused for a while, with any token.
struct WrongTokens: Sendable {
  private var times: [Int64] = []
  private var refusedUntil: Int64 = 0

  func refuses(at now: Int64) -> Bool { now < refusedUntil }

  mutating func add(at now: Int64) {
    times = times.filter { $0 > now - Tuning.wrongTokenSeconds } + [now]
    guard times.count >= Tuning.wrongTokens else { return }
    refusedUntil = now + Tuning.refusalSeconds
    times.removeAll()
  }
}
