import JSON

/// An org's use of API calls, as its responses report it: all clients together, over the last 24 hours.
public struct ApiUsage: Sendable, Equatable {
  /// The use and the limit of a single connected app.
  public struct PerApp: Sendable, Equatable {
    public let used: Int64
    public let max: Int64
    public let appName: String?
  }

  public let used: Int64
  public let max: Int64
  public let perApp: PerApp?
  /// When the response arrived, in milliseconds since 1970.
  public let seenAt: Int64

  public static let header = "Sforce-Limit-Info"

  public init(used: Int64, max: Int64, perApp: PerApp? = nil, seenAt: Int64) {
    self.used = used
    self.max = max
    self.perApp = perApp
    self.seenAt = seenAt
  }

  /// Parses `api-usage=18/5000; per-app-api-usage=17/250(appName=x); api-bursts=1/750`. Every part is optional, and unknown
  /// parts are ignored.
  ///
  /// - Returns: nil if the header does not hold the usage of the org.
  /// - Note: Source: Salesforce, REST API Developer Guide, "Limit Info Header"; the second part as simple-salesforce reads it.
  public init?(header: String, seenAt: Int64) {
    var parts: [Substring: Count] = [:]
    for part in header.split(separator: ";") {
      guard let equals = part.firstIndex(of: "="), let count = Count(part[part.index(after: equals)...]) else { continue }
      parts[part[..<equals].trimmed] = count
    }
    guard let all = parts["api-usage"], all.max > 0 else { return nil }
    let app = parts["per-app-api-usage"]
    self.init(
      used: all.used, max: all.max, perApp: app.map { PerApp(used: $0.used, max: $0.max, appName: $0.appName) },
      seenAt: seenAt)
  }

  /// A pair of numbers with an optional app name, such as `17/250(appName=x)`.
  private struct Count {
    let used: Int64, max: Int64
    var appName: String?

    init?(_ text: Substring) {
      let end = text.firstIndex(of: "(") ?? text.endIndex
      let numbers = text[..<end].split(separator: "/", omittingEmptySubsequences: false).map { Int64($0.trimmed) }
      guard numbers.count == 2, let used = numbers[0], let max = numbers[1], used >= 0, max >= 0 else { return nil }
      (self.used, self.max) = (used, max)
      let name = "(appName="
      guard text[end...].hasPrefix(name), let close = text.lastIndex(of: ")") else { return }
      appName = String(text[text.index(end, offsetBy: name.count)..<close])
    }
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    var text = drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return text
  }
}

// MARK: Storage

extension ApiUsage {
  /// The form in `usage.json`, which scripts get as well.
  public var json: JSONObject {
    var json: JSONObject = ["used": .integer(used), "max": .integer(max), "seenAt": .integer(seenAt)]
    if let perApp {
      var app: JSONObject = ["used": .integer(perApp.used), "max": .integer(perApp.max)]
      app["appName"] = perApp.appName.map { .string($0) }
      json["perApp"] = .object(app)
    }
    return json
  }

  /// Returns nil if one of the three numbers is missing or out of range.
  public init?(json: JSONValue) {
    guard let used = json["used"]?.integerValue, let max = json["max"]?.integerValue, used >= 0, max > 0,
      let seenAt = json["seenAt"]?.integerValue, seenAt >= 0
    else { return nil }
    var perApp: PerApp?
    if let part = json["perApp"], let used = part["used"]?.integerValue, let max = part["max"]?.integerValue {
      perApp = PerApp(used: used, max: max, appName: part["appName"]?.stringValue)
    }
    self.init(used: used, max: max, perApp: perApp, seenAt: seenAt)
  }
}

/// The API calls of an org that syncs leave to other clients.
public enum ApiReserve: Sendable, Equatable {
  case calls(Int64)
  /// A percentage of the org's limit.
  case percent(Int64)

  /// Parses `500` or `"10%"`.
  public init?(_ value: JSONValue) {
    if let calls = value.integerValue ?? value.stringValue.flatMap({ Int64($0) }) {
      guard calls >= 0 else { return nil }
      self = .calls(calls)
      return
    }
    guard let text = value.stringValue, text.hasSuffix("%"), let percent = Int64(text.dropLast()), (0...100).contains(percent)
    else { return nil }
    self = .percent(percent)
  }

  /// Returns true once the remaining calls do not exceed the reserve. A reserve of 0 is never reached: syncs then go on until
  /// the org itself refuses.
  public func isReached(by usage: ApiUsage) -> Bool {
    let reserve = calls(of: usage.max)
    return reserve > 0 && usage.used >= usage.max - reserve
  }

  /// Returns the reserve as a number of calls, rounded up.
  public func calls(of max: Int64) -> Int64 {
    switch self {
    case .calls(let calls): calls
    case .percent(let percent): max / 100 * percent + (max % 100 * percent + 99) / 100
    }
  }
}
