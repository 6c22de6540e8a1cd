import JSON

/// What is kept of each page of the last run, for conditional requests. It lives in the sync's state, not in a cache: `no-store`
/// and eviction do not touch it.
struct PageValidators: Sendable, Equatable {
  private(set) var pages: [Page] = []

  struct Page: Sendable, Equatable {
    /// As it was asked for.
    let url: String
    /// The tag as received, with its quotes.
    let etag: String?
    let lastModified: String?
    /// Where the page led; nil on the last one.
    let next: String?
    let items: Int

    /// The headers that ask whether the page has changed.
    var conditions: [TextPair] {
      [
        etag.map { TextPair(name: "If-None-Match", value: $0) },
        lastModified.map { TextPair(name: "If-Modified-Since", value: $0) },
      ]
      .compactMap { $0 }
    }
  }

  init() {}

  subscript(_ url: String) -> Page? { pages.first { $0.url == url } }

  /// Takes down a page that came whole. A page without validators is asked for without conditions the next time.
  mutating func note(_ page: CollectionPage, url: String, next: String?) {
    pages.removeAll { $0.url == url }
    pages.append(
      Page(
        url: url, etag: page.answer.header("ETag"), lastModified: page.answer.header("Last-Modified"), next: next,
        items: page.itemCount))
  }

  /// Whether a 304 for the first page ends a run: then nothing has changed anywhere.
  ///
  /// Page 1 unchanged says nothing about page 2 unless the list is sorted by modification, newest first, or has one page.
  func endsRun(_ mode: IncrementalRules.Mode) -> Bool {
    switch mode {
    case .sorted: true
    case .param: pages.count == 1
    case .etag, .token, .hash, .full: false
    }
  }
}

// MARK: JSON

extension PageValidators {
  func json(_ target: RestTarget) -> JSONValue {
    let secrets = SecretParameters(target)
    return .array(
      pages.map { page in
        var json: JSONObject = ["url": .string(secrets.removed(from: page.url)), "items": .integer(Int64(page.items))]
        if let etag = page.etag { json["etag"] = .string(etag) }
        if let lastModified = page.lastModified { json["lastModified"] = .string(lastModified) }
        if let next = page.next { json["next"] = .string(secrets.removed(from: next)) }
        return .object(json)
      })
  }

  /// Elements that are not pages are left out: those pages are asked for without conditions.
  init(_ json: JSONValue?, _ target: RestTarget) {
    let secrets = SecretParameters(target)
    pages = (json?.arrayValue ?? []).compactMap { value in
      guard let url = value["url"]?.stringValue, let items = value["items"]?.integerValue else { return nil }
      return Page(
        url: secrets.added(to: url), etag: value["etag"]?.stringValue, lastModified: value["lastModified"]?.stringValue,
        next: (value["next"]?.stringValue).map { secrets.added(to: $0) }, items: Int(clamping: items))
    }
  }
}
