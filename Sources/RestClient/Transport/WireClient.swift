/// Sends one request and collects its response: no log, no redirects, no retries. ``CurlClient`` does; tests may take its place.
package protocol WireClient: Sendable {
  /// - Throws: ``RestError``. A truncated body is never returned.
  func exchange(_ request: WireRequest) async throws(RestError) -> RestResponse

  /// Ends requests in flight with `.shutDown`; returns when everything is closed. May be called twice.
  func shutdown() async
}

/// A request with all that is written to the connection. Its headers are checked by ``RequestHead``.
package struct WireRequest: Sendable {
  package let method: HTTPMethod
  package let url: RequestURL
  package let headers: [(name: String, value: String)]
  package let body: [UInt8]?
  /// Seconds for the whole exchange, with the wait for a connection; nil for no limit.
  package let timeoutS: Double?

  package init(
    _ method: HTTPMethod, _ url: RequestURL, headers: [(name: String, value: String)], body: [UInt8]?, timeoutS: Double?
  ) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
    self.timeoutS = timeoutS
  }
}

/// The URL of a request: where to connect, and the path and query byte for byte.
package struct RequestURL: Sendable, Equatable {
  package let address: WebAddress
  /// The path and query, as they stand in the request line.
  package let target: String

  /// Fails unless the URL is an `http(s)` URL of printable ASCII characters whose host is a name or an address.
  package init?(_ url: String) {
    guard let address = WebAddress(url), url.utf8.allSatisfy(\.isPrintableASCII) else { return nil }
    guard address.host.utf8.allSatisfy(RequestURL.isHostByte) else { return nil }
    let bytes = url.utf8
    guard var start = bytes.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    start = bytes.index(start, offsetBy: 3)
    start = bytes[start...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
    let rest = url[start..<(bytes[start...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex)]
    self.address = address
    target = rest.utf8.first == UInt8(ascii: "/") ? String(rest) : "/" + rest
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
    default: "-._:[]".utf8.contains(byte)
    }
  }
}
