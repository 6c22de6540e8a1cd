/// A request that a program on this machine made, usually a browser.
package struct LoopbackRequest: Sendable, Equatable {
  /// One header as it was sent; its name is in lower case.
  package struct Header: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package let method: String
  /// The target in the request line.
  package let target: String
  package var headers: [Header]
  package var body: [UInt8]

  package init(method: String, target: String, headers: [Header] = [], body: [UInt8] = []) {
    self.method = method
    self.target = target
    self.headers = headers
    self.body = body
  }

  package var path: Substring { target.prefix { $0 != "?" && $0 != "#" } }
  package var query: Substring { target.dropFirst(path.count).dropFirst().prefix { $0 != "#" } }

  /// Returns all values of a header. - Parameter name: In lower case.
  package func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

  /// All `Host` headers; a valid request has exactly one.
  package var hosts: [String] { values("host") }
  package var origin: String? { values("origin").first }
  /// True for Chromium's preflight request before a redirect from the internet to this machine.
  package var asksForPrivateNetwork: Bool { headers.contains { $0.name == "access-control-request-private-network" } }
}

/// The answer to a request.
package struct LoopbackAnswer: Sendable, Equatable {
  package let status: Int
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(status: Int, headers: [(name: String, value: String)], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  package init(status: Int, headers: [(name: String, value: String)], text: String) {
    self.init(status: status, headers: headers, body: Array(text.utf8))
  }

  package static func == (a: LoopbackAnswer, b: LoopbackAnswer) -> Bool {
    a.status == b.status && a.body == b.body && a.headers.elementsEqual(b.headers) { $0 == $1 }
  }

  /// The bytes of the response, after which the connection is closed.
  /// - Parameter isStream: Whether more of the body follows, up to the end of the connection.
  func wire(toHead isHead: Bool, isStream: Bool = false) -> [UInt8] {
    var text = "HTTP/1.1 \(status) \(LoopbackAnswer.reasons[status] ?? "")\r\n"
    for header in headers { text += "\(header.name): \(header.value)\r\n" }
    text += "Connection: close\r\n"
    if status != 204, !isStream { text += "Content-Length: \(body.count)\r\n" }
    return Array((text + "\r\n").utf8) + (isHead ? [] : body)
  }

  private static let reasons = [
    200: "OK", 202: "Accepted", 204: "No Content", 303: "See Other", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
    404: "Not Found", 405: "Method Not Allowed", 409: "Conflict", 410: "Gone", 412: "Precondition Failed",
    415: "Unsupported Media Type", 421: "Misdirected Request", 422: "Unprocessable Content", 429: "Too Many Requests",
    503: "Service Unavailable", 504: "Gateway Timeout",
  ]
}
