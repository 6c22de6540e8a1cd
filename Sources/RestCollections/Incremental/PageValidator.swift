import JSON

/// What is kept of a page for conditional requests. It lives beside the sync's state, not in a cache: `no-store` and eviction do
/// not touch it.
struct PageValidator: Sendable, Equatable {
  /// The tag as received, with its quotes.
  let etag: String?
  let lastModified: String?
  /// Where the page led; nil on the last one.
  let next: String?
  let items: Int

  /// nil for a page without validators: it is asked for without conditions the next time.
  init?(_ page: CollectionPage, next: String?) {
    etag = page.answer.header("ETag")
    lastModified = page.answer.header("Last-Modified")
    guard etag != nil || lastModified != nil else { return nil }
    self.next = next
    items = page.itemCount
  }

  /// The headers that ask whether the page has changed.
  var conditions: [TextPair] {
    [
      etag.map { TextPair(name: "If-None-Match", value: $0) },
      lastModified.map { TextPair(name: "If-Modified-Since", value: $0) },
    ]
    .compactMap { $0 }
  }

  /// Whether a 304 for the first page ends a run: then nothing has changed anywhere.
  ///
  /// Page 1 unchanged says nothing about page 2 unless the list is sorted by modification, newest first, or has one page.
  func endsRun(_ mode: IncrementalRules.Mode) -> Bool {
    switch mode {
    case .sorted: true
    case .param: next == nil
    case .etag, .token, .hash, .full: false
    }
  }
}

extension IncrementalRules.Mode {
  /// Whether pages are asked for with what is kept of them.
  func validates(isFirstPage: Bool) -> Bool {
    switch self {
    case .etag: true
    case .sorted, .param: isFirstPage
    case .token, .hash, .full: false
    }
  }
}

extension PagingRules {
  /// Whether a page says outside its body where the list goes on.
  var leadsOnByHeader: Bool { style == .link || style == .header || nextPath?.headerName != nil }
}

extension RestTarget {
  /// Whether a page has no room for more items.
  /// - Parameter others: How many items pages have that others follow.
  func mayBeFull(items: Int, others: [Int]) -> Bool {
    if let size = others.max() { return items >= size }
    guard items > 0, let size = paging.size?.value ?? sizeInParams else { return items > 0 }
    // Servers cut what is asked for to a round number.
    return items >= size || items % 10 == 0 || items % 25 == 0
  }

  /// How many items a page is to have, where a parameter says it.
  private var sizeInParams: Int? {
    let words = ["size", "limit", "per", "count", "top", "max", "rows", "results"]
    return params.compactMap { pair in
      words.contains { pair.name.lowercased().contains($0) } ? Int(pair.value).flatMap { $0 > 0 ? $0 : nil } : nil
    }.max()
  }

  /// Whether anything of a page is kept for conditional requests. Answers to a POST have no validators.
  var validatesPages: Bool { method == .get && incremental.mode.validates(isFirstPage: true) }
}

// MARK: JSON

extension PageValidator {
  /// The name of a page: its URL without the target's secrets.
  static func name(_ url: String, _ target: RestTarget) -> String { SecretParameters(target).removed(from: url) }

  func json(_ target: RestTarget) -> JSONObject {
    var json: JSONObject = ["items": .integer(Int64(items))]
    if let etag { json["etag"] = .string(etag) }
    if let lastModified { json["lastModified"] = .string(lastModified) }
    if let next { json["next"] = .string(SecretParameters(target).removed(from: next)) }
    return json
  }

  /// nil for what is no page.
  init?(_ json: JSONValue, _ target: RestTarget) {
    guard let items = json["items"]?.integerValue else { return nil }
    etag = json["etag"]?.stringValue
    lastModified = json["lastModified"]?.stringValue
    guard etag != nil || lastModified != nil else { return nil }
    next = json["next"]?.stringValue.map { SecretParameters(target).added(to: $0) }
    self.items = Int(clamping: items)
  }
}
