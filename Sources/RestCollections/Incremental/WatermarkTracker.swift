import JSON

/// From which date a later run goes on. Never the local clock, and never back.
struct WatermarkTracker: Sendable, Equatable {
  private let rules: IncrementalRules
  private let order: IncrementalRules.Order
  /// With which the run began; nil for none.
  private let start: Int64?
  /// Dates count their own units, not milliseconds: the time of the walk is not taken off.
  private let isSerial: Bool
  private var newest: Int64?
  private var newestOfFirstPage: Int64?
  private var ofServer: Int64?
  private var pages = 0
  /// An item that is not a mark of deletion had no date: the next run must be a full one.
  private(set) var lacksDates = false

  init(_ target: RestTarget, start: Int64?, isIncremental: Bool) {
    rules = target.incremental
    // A `sorted` list is ordered by the parameters of the runs with a watermark; its first run has none of them.
    order = rules.mode == .sorted ? (isIncremental ? .descending : .none) : rules.order
    self.start = start
    isSerial = target.items.dateFormat == .integer
  }

  /// Takes down a page.
  mutating func note(_ page: CollectionPage) {
    if pages == 0 {
      newestOfFirstPage = page.facts.newestDate?.position
      ofServer = page.facts.watermark.flatMap(position)
    }
    pages += 1
    newest = [newest, page.facts.newestDate?.position].compactMap { $0 }.max()
    lacksDates = lacksDates || page.facts.lacksDate
  }

  /// The text behind `watermarkPath`: an entity tag without its quotes, a header's date, or a date of the target's format.
  private func position(_ text: String) -> Int64? {
    var text = text
    if text.hasPrefix("W/") { text.removeFirst(2) }
    if text.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = String(text.dropFirst().dropLast()) }
    let date = rules.format.date(text.utf8, zone: rules.zone)
    if let date { return date.position }
    return rules.watermarkPath?.headerName == nil ? nil : DateFormat.rfc1123.date(text.utf8, zone: .utc)?.position
  }

  /// The watermark after a page is stored, while the run goes on.
  /// - Parameter shifts: Rows move between pages: a page that was read says nothing then.
  func afterPage(shifts: Bool) -> Int64? {
    guard order == .ascending, !shifts, rules.watermarkPath == nil else { return start }
    return notBefore(newest)
  }

  /// The watermark of a complete run.
  /// - Parameters:
  ///   - shifts: Rows move between pages.
  ///   - isShort: Rows are missing: the watermark stays where it was.
  ///   - elapsedMs: How long the walk took, on a clock that does not jump; of a resumed walk from its first page.
  func atEnd(shifts: Bool, isShort: Bool, elapsedMs: Int64) -> Int64? {
    guard !isShort, !lacksDates else { return start }
    if rules.watermarkPath != nil { return notBefore(ofServer) }
    switch order {
    case .ascending where !shifts: return notBefore(newest)
    case .descending where !shifts: return notBefore(newestOfFirstPage)
    default: return notBefore(newest.map { isSerial ? $0 : $0.subtractingSafely(max(0, elapsedMs)) })
    }
  }

  /// A watermark never goes back.
  private func notBefore(_ found: Int64?) -> Int64? { [start, found].compactMap { $0 }.max() }

  /// Whether a `sorted` run has reached what it knows: the page holds an item at or before the watermark minus the overlap.
  func hasReachedWatermark(_ page: CollectionPage) -> Bool {
    guard rules.mode == .sorted, order == .descending, let start, let oldest = page.facts.oldestDate else { return false }
    return oldest.position <= start.subtractingSafely(rules.overlapMs)
  }
}

// MARK: JSON, for the cursor

extension WatermarkTracker {
  var json: JSONObject {
    var json: JSONObject = ["pages": .integer(Int64(pages)), "lacksDates": .bool(lacksDates)]
    for (key, value) in [("newest", newest), ("newestOfFirstPage", newestOfFirstPage), ("ofServer", ofServer)] {
      if let value { json[key] = .integer(value) }
    }
    return json
  }

  /// Goes on from what a cursor keeps.
  mutating func resume(_ json: JSONObject) {
    pages = max(0, Int(clamping: json["pages"]?.integerValue ?? 0))
    lacksDates = json["lacksDates"]?.boolValue ?? false
    newest = json["newest"]?.integerValue
    newestOfFirstPage = json["newestOfFirstPage"]?.integerValue
    ofServer = json["ofServer"]?.integerValue
  }
}
