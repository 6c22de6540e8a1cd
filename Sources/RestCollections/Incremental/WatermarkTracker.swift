import JSON

/// Determines the watermark at which the next run continues. It never uses the local clock and
/// never moves back.
struct WatermarkTracker: Sendable, Equatable {
  private let rules: IncrementalRules
  private let order: IncrementalRules.Order
  /// The watermark at the start of the run; nil for none.
  private let start: Int64?
  /// Dates are serial numbers, not milliseconds, so the duration of the walk is not subtracted.
  private let isSerial: Bool
  private var newest: Int64?
  private var newestOfFirstPage: Int64?
  private var serverWatermark: Int64?
  private var pages = 0
  /// An item other than a tombstone had no date, so the next run must be a full one.
  private(set) var lacksDates = false

  init(_ target: RestTarget, start: Int64?, isIncremental: Bool) {
    rules = target.incremental
    // Only runs with a watermark send the parameters that order a `sorted` list; the first run has
    // no order.
    order = rules.mode == .sorted ? (isIncremental ? .descending : .none) : rules.order
    self.start = start
    isSerial = target.items.dateFormat == .integer
  }

  /// Records the dates of a page.
  mutating func note(_ page: CollectionPage) {
    if pages == 0 {
      newestOfFirstPage = page.facts.newestDate?.position
      serverWatermark = page.facts.watermark.flatMap(position).map { found in
        isSerial ? found : min(found, page.answer.serverTime ?? found)
      }
    }
    pages += 1
    newest = [newest, page.facts.newestDate?.position].compactMap { $0 }.max()
    lacksDates = lacksDates || page.facts.lacksDate
  }

  /// Parses the text at `watermarkPath`: an entity tag without its quotes, a date of the target's
  /// format, or the date of a header.
  private func position(_ text: String) -> Int64? {
    var text = text
    if text.hasPrefix("W/") { text.removeFirst(2) }
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = String(text.dropFirst().dropLast()) }
    let date = rules.format.date(text.utf8, zone: rules.zone)
    if let date { return date.position }
    return rules.watermarkPath?.headerName == nil ? nil : DateFormat.rfc1123.date(text.utf8, zone: .utc)?.position
  }

  /// Returns the watermark after a page is stored, while the run continues.
  ///
  /// - Parameter shifts: Rows move between pages, so the pages read so far prove nothing.
  func afterPage(shifts: Bool) -> Int64? {
    guard order == .ascending, !shifts, rules.watermarkPath == nil else { return start }
    return notBefore(newest)
  }

  /// Returns the watermark of a complete run.
  ///
  /// - Parameters:
  ///   - shifts: Rows move between pages.
  ///   - isIncomplete: Rows are missing, so the watermark stays unchanged.
  ///   - elapsedMs: The duration of the walk by a monotonic clock, in ms; counted from the first
  ///     page if the walk was resumed.
  func atEnd(shifts: Bool, isIncomplete: Bool, elapsedMs: Int64) -> Int64? {
    guard !isIncomplete, !lacksDates else { return start }
    if rules.watermarkPath != nil { return notBefore(serverWatermark) }
    switch order {
    case .ascending where !shifts: return notBefore(newest)
    case .descending where !shifts: return notBefore(newestOfFirstPage)
    default: return notBefore(newest.map { isSerial ? $0 : $0.subtractingSafely(max(0, elapsedMs)) })
    }
  }

  /// A watermark never moves back.
  private func notBefore(_ found: Int64?) -> Int64? { [start, found].compactMap { $0 }.max() }

  /// Whether a `sorted` run has reached known items: the page has an item at or before the
  /// watermark minus the overlap.
  func hasReachedWatermark(_ page: CollectionPage) -> Bool {
    guard rules.mode == .sorted, order == .descending, let start, let oldest = page.facts.oldestDate else { return false }
    return oldest.position <= start.subtractingSafely(rules.overlapMs)
  }
}

// MARK: JSON, for the cursor

extension WatermarkTracker {
  var json: JSONObject {
    var json: JSONObject = ["pages": .integer(Int64(pages)), "lacksDates": .bool(lacksDates)]
    for (key, value) in [("newest", newest), ("newestOfFirstPage", newestOfFirstPage), ("ofServer", serverWatermark)] {
      if let value { json[key] = .integer(value) }
    }
    return json
  }

  /// Restores the state from a cursor.
  mutating func resume(_ json: JSONObject) {
    pages = max(0, Int(clamping: json["pages"]?.boundedInteger ?? 0))
    lacksDates = json["lacksDates"]?.boolValue ?? false
    newest = json["newest"]?.boundedInteger
    newestOfFirstPage = json["newestOfFirstPage"]?.boundedInteger
    serverWatermark = json["ofServer"]?.boundedInteger
  }
}
