import JSON

/// The validators of a page, for conditional requests. They are stored with the sync's state and
/// not in a cache, so `no-store` and eviction do not affect them.
struct PageValidator: Sendable, Equatable {
  /// The entity tag as received, with its quotes.
  let etag: String?
  let lastModified: String?
  /// The URL of the next page; nil on the last one.
  let next: String?
  let items: Int

  /// Fails for a page without validators, which is requested unconditionally the next time.
  init?(_ page: CollectionPage, next: String?) {
    etag = page.answer.header("ETag")
    lastModified = page.answer.header("Last-Modified")
    guard etag != nil || lastModified != nil else { return nil }
    self.next = next
    items = page.itemCount
  }

  /// The headers of a conditional request for the page.
  var conditions: [TextPair] {
    [
      etag.map { TextPair(name: "If-None-Match", value: $0) },
      lastModified.map { TextPair(name: "If-Modified-Since", value: $0) },
    ]
    .compactMap { $0 }
  }

  /// Whether a 304 for the first page ends a run because nothing can have changed.
  ///
  /// An unchanged first page says nothing about the second, unless the list is sorted by
  /// modification, newest first, or has only one page.
  func endsRun(_ mode: IncrementalRules.Mode) -> Bool {
    switch mode {
    case .sorted: true
    case .param: next == nil
    case .etag, .token, .hash, .full: false
    }
  }
}

extension IncrementalRules.Mode {
  /// Whether pages are requested conditionally.
  func validates(isFirstPage: Bool) -> Bool {
    switch self {
    case .etag: true
    case .sorted, .param: isFirstPage
    case .token, .hash, .full: false
    }
  }
}

extension PagingRules {
  /// Whether a page names the next page outside of its body.
  var leadsOnByHeader: Bool { style == .link || style == .header || nextPath?.headerName != nil }
}

extension RestTarget {
  /// Whether a page may have reached the page size, so that more items may follow.
  ///
  /// - Parameter others: The item counts of pages that are followed by another page.
  func mayBeFull(items: Int, others: [Int]) -> Bool {
    if let size = others.max() { return items >= size }
    guard items > 0, let size = paging.size?.value ?? sizeInParams else { return items > 0 }
    // Servers reduce the requested size to a round number.
    return items >= size || items % 10 == 0 || items % 25 == 0
  }

  /// The page size, if a parameter sets it.
  private var sizeInParams: Int? {
    let words = ["size", "limit", "per", "count", "top", "max", "rows", "results"]
    return params.compactMap { pair in
      words.contains { pair.name.lowercased().contains($0) } ? Int(pair.value).flatMap { $0 > 0 ? $0 : nil } : nil
    }.max()
  }

  /// Whether validators are stored for any page. Responses to a POST have none.
  var validatesPages: Bool { method == .get && incremental.mode.validates(isFirstPage: true) }
}

// MARK: JSON

extension PageValidator {
  /// The key of a page: its URL without the target's secrets.
  static func name(_ url: String, _ target: RestTarget) -> String { SecretParameters(target).removed(from: url) }

  func json(_ target: RestTarget) -> JSONObject {
    var json: JSONObject = ["items": .integer(Int64(items))]
    if let etag { json["etag"] = .string(etag) }
    if let lastModified { json["lastModified"] = .string(lastModified) }
    if let next { json["next"] = .string(SecretParameters(target).removed(from: next)) }
    return json
  }

  /// Fails for JSON that does not describe a page.
  init?(_ json: JSONValue, _ target: RestTarget) {
    guard let items = json["items"]?.boundedInteger else { return nil }
    etag = json["etag"]?.stringValue
    lastModified = json["lastModified"]?.stringValue
    guard etag != nil || lastModified != nil else { return nil }
    next = json["next"]?.stringValue.map { SecretParameters(target).added(to: $0) }
    self.items = Int(clamping: items)
  }
}
