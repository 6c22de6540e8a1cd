import RestClient
import Support

/// Validates a server's next URL before it is followed.
struct NextURL: Sendable {
  let target: RestTarget
  /// The connection's base URL.
  let base: String
  /// The connection's `allowOrigins`, such as `https://avatars.example.com`.
  let allowedOrigins: [String]

  /// Why a URL is not followed.
  struct Refusal: Error, Sendable, Equatable {
    let code: RestPageError.Code
    let description: String
  }

  /// Returns the URL to request: repaired, absolute, and with the `keepParams` that the server
  /// dropped.
  ///
  /// - Parameters:
  ///   - text: The received URL, relative or absolute.
  ///   - responseURL: The URL of the response that contains it.
  ///   - first: The URL of the first page, the source of `keepParams`.
  /// - Throws: ``Refusal`` for another origin, and for anything but an http(s) URL.
  func prepared(_ text: String, from responseURL: String, first: String) throws(Refusal) -> (url: String, isForeign: Bool) {
    var reference = URLReference(URLReference.repaired(text)).resolved(against: responseURL).withoutFragment
    if target.paging.usesConnectionOrigin {
      let own = URLReference(base)
      (reference.scheme, reference.authority) = (own.scheme, own.authority)
    }
    var url = reference.text
    for name in target.paging.keepParams where URLQuery.value(of: name, in: url) == nil {
      if let value = URLQuery.value(of: name, in: first) { url = URLQuery.adding([(name, value)], to: url) }
    }
    guard let address = WebAddress(url) else {
      throw Refusal(code: .wrongShape, description: "leads to '\(NextURL.shown(url))', which is not an http(s) URL")
    }
    if address == WebAddress(base) { return (url, false) }
    guard !target.staysOnOrigin || allowedOrigins.contains(where: { WebAddress($0) == address }) else {
      throw Refusal(
        code: .foreignOrigin,
        description:
          "leads to another server, \(address.scheme)://\(address.host):\(address.port); if this server puts a wrong "
          + "host into its URLs, set 'nextOrigin' to 'connection'; if requests to the other server are allowed, list it "
          + "in 'allowOrigins'")
    }
    return (url, true)
  }

  /// Removes the query, which may contain a secret.
  private static func shown(_ url: String) -> String { String(url.prefix { $0 != "?" }.prefix(200)) }

  /// Whether two URLs differ by nothing but one number: the second is a page number or an offset ahead, and rows shift between
  /// Whether two URLs differ only in one number, or the second only adds one. The number is then a
  /// page number or an offset, and rows shift between such pages.
  static func differsByANumber(_ last: String, _ next: String) -> Bool {
    let a = Array(last.utf8), b = Array(next.utf8)
    var start = 0
    while start < min(a.count, b.count), a[start] == b[start] { start += 1 }
    var end = 0
    while end < min(a.count, b.count) - start, a[a.count - 1 - end] == b[b.count - 1 - end] { end += 1 }
    // Extend to the whole number, not only the digits that differ.
    while start > 0, a[start - 1].isASCIIDigit { start -= 1 }
    while end > 0, a[a.count - end].isASCIIDigit { end -= 1 }
    let old = a[start..<(a.count - end)], new = b[start..<(b.count - end)]
    if !old.isEmpty, !new.isEmpty, old.allSatisfy(\.isASCIIDigit), new.allSatisfy(\.isASCIIDigit) {
      return isWholeValue(a, start: start, suffix: end)
    }
    return addsANumber(last, next)
  }

  /// Whether a number is a whole value. A number within a word belongs to a token.
  private static func isWholeValue(_ url: [UInt8], start: Int, suffix end: Int) -> Bool {
    let before = start > 0 ? url[start - 1] : UInt8(ascii: "/")
    let after = end > 0 ? url[url.count - end] : UInt8(ascii: "&")
    return "=/,;".utf8.contains(before) && "&/,;#.".utf8.contains(after)
  }

  private static func addsANumber(_ last: String, _ next: String) -> Bool {
    let old = URLQuery.pairs(of: last), new = URLQuery.pairs(of: next)
    guard URLReference(last).path == URLReference(next).path else { return false }
    let added = new.filter { pair in !old.contains { $0 == pair } }
    return added.count == 1 && old.count == new.count - 1 && !added[0].value.isEmpty
      && added[0].value.utf8.allSatisfy(\.isASCIIDigit)
  }
}
