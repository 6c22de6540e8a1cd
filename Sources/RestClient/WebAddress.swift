import Support

/// The scheme, host and port of a URL: enough of RFC 3986 to decide where a token may be sent.
public struct WebAddress: Sendable, Equatable {
  /// `http` or `https`.
  public let scheme: String
  /// In lower case; an IPv6 address keeps its brackets.
  public let host: String
  public let port: Int

  /// Fails unless the URL has the form `http(s)://host[:port][/...]`. A user name is refused,
  /// because it only serves to deceive, as is a host longer than a name can be.
  public init?(_ url: String) {
    var url = url
    guard let address = url.withUTF8({ WebAddress(bytes: $0) }) else { return nil }
    self = address
  }

  private init?(bytes: UnsafeBufferPointer<UInt8>) {
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else { return nil }
    let scheme = WebAddress.lowercased(bytes[..<colon])
    guard scheme == "http" || scheme == "https" else { return nil }
    let authority = bytes[(colon + 3)...].prefix { !"/?#".utf8.contains($0) }
    guard !authority.contains(UInt8(ascii: "@")) else { return nil }
    var host = authority, port = scheme == "https" ? 443 : 80
    if let mark = authority.lastIndex(of: UInt8(ascii: ":")), authority.last != UInt8(ascii: "]") {
      let digits = authority[(mark + 1)...]
      guard digits.allSatisfy(\.isASCIIDigit), let number = Int(String(decoding: digits, as: UTF8.self)),
        (1...65535).contains(number)
      else { return nil }
      host = authority[..<mark]
      port = number
    }
    guard !host.isEmpty, host.count <= Tuning.longestHost else { return nil }
    self.scheme = scheme
    self.host = WebAddress.lowercased(host)
    self.port = port
  }

  /// Skips the Unicode conversion for addresses that are in lower case already, as nearly all are.
  private static func lowercased(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    return bytes.allSatisfy { $0 < 0x80 && !$0.isASCIIUppercase } ? text : text.lowercased()
  }

  /// The origin as a URL, always with its port.
  package var origin: String { "\(scheme)://\(host):\(port)" }

  public var isEncrypted: Bool { scheme == "https" }

  /// True for this machine's loopback addresses: data sent there crosses no wire.
  public var isLoopback: Bool {
    host == "localhost" || host == "[::1]" || WebAddress.isIPv4Loopback(host)
  }

  /// True for the addresses 127.0.0.0 to 127.255.255.255.
  static func isIPv4Loopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }
}

extension WebAddress {
  /// Returns the URL of a request: `path` appended to `base`, or `path` itself if it is absolute,
  /// followed by the query. It is sent byte for byte; see ``URLReference/repaired(_:)``.
  ///
  /// - Throws: ``RestError`` `.invalidURL` if `path` is neither, if it has characters that must be
  ///   encoded, and for unencrypted HTTP to another machine.
  package static func url(path: String, query: [(name: String, value: String)], base: String) throws(RestError) -> String {
    var url = path.hasPrefix("/") ? withoutTrailingSlashes(base) + path : path
    guard url.utf8.allSatisfy(\.isPrintableASCII) else {
      throw .invalidURL("'\(shown(path))' contains characters that must be percent-encoded")
    }
    guard let address = WebAddress(url) else {
      throw .invalidURL("'\(shown(url))' is neither a path nor an http(s) URL")
    }
    guard address.isEncrypted || address.isLoopback else {
      throw .invalidURL("unencrypted http is allowed only on this machine, not for '\(address.host)'")
    }
    url = URLReference.repaired(url)
    if !query.isEmpty { url += (url.contains("?") ? "&" : "?") + PercentEncoding.form(query) }
    return url
  }

  package static func withoutTrailingSlashes(_ url: String) -> String {
    var url = url
    while url.hasSuffix("/") { url.removeLast() }
    return url
  }

  /// Shortens a URL for a message and removes the query, whose values may be secrets.
  private static func shown(_ url: String) -> String {
    String(url.prefix { $0 != "?" }.prefix(Tuning.shownCharacters))
  }
}

extension UInt8 {
  /// Whether it can stand in a request line: ASCII without controls and the blank.
  var isPrintableASCII: Bool { self > UInt8(ascii: " ") && self < 0x7F }
}

extension RestError {
  package static func invalidURL(_ message: String) -> RestError {
    RestError(code: .invalidURL, message: message, outcome: .notSent)
  }
}

extension String {
  /// Finds the first occurrence of an ASCII text. This module does not import Foundation.
  package func firstRange(ofASCII text: String) -> Range<String.Index>? {
    let needle = Array(text.utf8)
    var start = utf8.startIndex
    while start < utf8.endIndex {
      if utf8[start...].starts(with: needle) { return start..<utf8.index(start, offsetBy: needle.count) }
      start = utf8.index(after: start)
    }
    return nil
  }

  package func containsASCII(_ text: String) -> Bool { firstRange(ofASCII: text) != nil }
}
