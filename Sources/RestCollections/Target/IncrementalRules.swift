import JSON

/// How later runs request changes.
struct IncrementalRules: Sendable, Equatable {
  let mode: Mode
  /// Merged into the target's `params` when there is a watermark, with `{since}` replaced.
  let params: [TextPair]
  let body: JSONObject?
  /// How far before the watermark a run starts: milliseconds, or units of the date format
  /// `integer`.
  let overlapMs: Int64
  /// The date format of `{since}`.
  let format: DateFormat
  /// The time zone of `{since}` and of dates without an offset.
  let zone: TimeZoneRules
  /// The text for `{since}` when there is no watermark.
  let firstSince: String?
  /// The list's order by modification, the same in every run.
  let order: Order
  /// The location of the watermark in the first page of a run.
  let watermarkPath: ValuePath?
  /// Seconds after which a run becomes a full one; 0 for never.
  let fullEveryS: Int64
  /// Seconds for which the server keeps tombstones.
  let tombstonesS: Int64?
  let tokenPath: ValuePath?
  /// nil if the token is a URL that is called as given.
  let tokenParam: String?
  let tokenPlace: PagingRules.Place
  /// Sent only if no token is stored.
  let firstParams: [TextPair]
  /// Statuses of the first request that mean "the stored token has expired".
  let expiredStatuses: [Int]

  enum Mode: String, CaseIterable, Sendable { case param, sorted, etag, token, hash, full }
  enum Order: String, CaseIterable, Sendable { case none, ascending, descending }

  private static let keys = [
    "mode", "params", "body", "overlapMs", "format", "timeZone", "firstSince", "order", "watermarkPath", "fullEveryS",
    "tombstonesS",
    "tokenPath", "tokenParam", "tokenIn", "firstParams", "expiredStatus",
  ]

  /// - Parameter target: Reads the whole target.
  init(_ target: TargetReader, items: ItemRules, zoneFile: (String) -> [UInt8]?) throws(RestTargetError) {
    let reader = try target.insideOrEmpty("incremental", known: IncrementalRules.keys)
    mode = try reader.choice("mode") ?? .full
    params = try reader.pairs("params") ?? []
    body = try reader.object("body")
    overlapMs = try reader.integer("overlapMs", atLeast: 0) ?? 2000
    format = try ItemRules.dateFormat("format", reader) ?? items.dateFormat
    zone = items.zone
    firstSince = try reader.text("firstSince")
    order = try reader.choice("order") ?? .none
    watermarkPath = try reader.path("watermarkPath", taking: .header)
    fullEveryS = try reader.integer("fullEveryS", atLeast: 0) ?? 0
    tombstonesS = try reader.integer("tombstonesS", atLeast: 1)
    tokenPath = try reader.path("tokenPath", taking: .header)
    tokenParam = try reader.nonEmptyText("tokenParam")
    tokenPlace = try reader.choice("tokenIn") ?? .query
    firstParams = try reader.pairs("firstParams") ?? []
    expiredStatuses = try reader.statuses("expiredStatus") ?? [400, 404, 410]
    try check(reader, items)
  }

  private func check(_ reader: TargetReader, _ items: ItemRules) throws(RestTargetError) {
    let hasDates = items.dateField != nil || watermarkPath != nil
    let chosen = "the mode '\(mode.rawValue)'"
    switch mode {
    case .param:
      guard hasSince else { throw reader.error("params", "or 'body' must contain '{since}' with \(chosen)") }
      guard hasDates else { throw reader.refusal("mode", "\(chosen) needs 'modificationDateField' or 'watermarkPath'") }
    case .sorted:
      guard items.dateField != nil else { throw reader.refusal("mode", "\(chosen) needs 'modificationDateField'") }
      if order == .ascending { throw reader.error("order", "cannot be 'ascending' with \(chosen): it reads the newest first") }
    case .token:
      guard tokenPath != nil else { throw reader.error("tokenPath", "is missing; \(chosen) needs it") }
      try reader.refuse(["params", "body", "order", "watermarkPath", "firstSince"], with: chosen)
      if tokenParam == nil, reader.has("tokenIn") {
        throw reader.error("tokenIn", "needs 'tokenParam'; without it the token is a URL")
      }
    case .etag, .hash, .full: try reader.refuse(["params", "body", "firstSince"], with: chosen)
    }
    if mode != .token { try reader.refuse(IncrementalRules.tokenKeys, with: chosen) }
    if firstSince != nil, !hasSince { throw reader.error("firstSince", "needs '{since}' in 'params' or 'body'") }
    if (format == .integer) != (items.dateFormat == .integer) {
      throw reader.error("format", "must be 'integer' exactly when 'dateFormat' is: serials and times do not mix")
    }
  }

  private static let tokenKeys = ["tokenPath", "tokenParam", "tokenIn", "firstParams", "expiredStatus"]

  private var hasSince: Bool {
    params.contains { $0.value.utf8.containsSince } || (body.map { $0.serialized().containsSince } ?? false)
  }
}

extension Collection where Element == UInt8 {
  /// Whether the text contains `{since}`.
  fileprivate var containsSince: Bool {
    let wanted = Array("{since}".utf8)
    var rest = self[...]
    while rest.count >= wanted.count {
      if rest.starts(with: wanted) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}

/// How to find rows that the server no longer has.
struct GhostRules: Sendable, Equatable {
  let mode: Mode
  /// The largest share of rows that may be removed without force.
  let maxRatio: Double
  /// Nil confirms with `walks` if paging shifts, otherwise not at all.
  let confirmation: Confirmation?

  enum Mode: String, CaseIterable, Sendable { case none, fullList, perId }
  enum Confirmation: String, CaseIterable, Sendable { case read, walks, none }

  /// - Parameter canRead: Whether the target has `up.read`.
  init(_ target: TargetReader, canRead: Bool) throws(RestTargetError) {
    let reader = try target.insideOrEmpty("ghosts", known: ["mode", "maxRatio", "confirm"])
    mode = try reader.choice("mode") ?? .none
    confirmation = try reader.choice("confirm")
    if let value = reader["maxRatio"] {
      guard let ratio = value.doubleValue, ratio > 0, ratio <= 1 else {
        throw reader.error("maxRatio", "must be a number above 0 and at most 1")
      }
      maxRatio = ratio
    } else {
      maxRatio = 0.5
    }
    if mode == .perId, !canRead { throw reader.error("mode", "cannot be 'perId' without 'up' with 'read'") }
    if confirmation == .read, !canRead { throw reader.error("confirm", "cannot be 'read' without 'up' with 'read'") }
  }
}
