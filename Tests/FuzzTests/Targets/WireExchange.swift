import Glibc

/// Bytes sent over one connection, whose sending side is then closed, and all that came back until the server closed it.
struct WireExchange {
  private(set) var received: [UInt8] = []
  /// Whether nothing came for so long that waiting is pointless; a server closes a half-closed connection when it has answered.
  private(set) var timedOut = false
  /// Whether the connection ended with a reset, which can cut answers.
  private(set) var wasReset = false

  private static let patienceS = 100

  init(port: Int, sending bytes: [UInt8]) throws(FuzzFailure) {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(socket) }
    var address = sockaddr_in(), patience = timeval(tv_sec: Self.patienceS, tv_usec: 0)
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let status = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
    guard socket >= 0, status == 0 else {
      throw FuzzFailure(message: "the server accepts no connection: \(String(cString: strerror(errno)))")
    }
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    send(bytes, socket)
    shutdown(socket, Int32(SHUT_WR))
    receive(socket)
  }

  private func send(_ bytes: [UInt8], _ socket: Int32) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.send(socket, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL)) }
      // The server may have closed the connection already, with its answer.
      guard count > 0 else { return }
      sent += count
    }
  }

  private mutating func receive(_ socket: Int32) {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        timedOut = count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
        wasReset = count < 0 && errno == ECONNRESET
        return
      }
      received += buffer[..<count]
    }
  }
}

/// An answer as it came over the wire.
struct WireAnswer {
  let status: Int
  let body: [UInt8]

  /// Splits what a server sent into its answers, without those of status 100.
  /// - Parameters:
  ///   - mayOmitBodies: Whether a request may be a HEAD, whose answer has a length and no body.
  ///   - isCut: Whether the last answer may be incomplete.
  /// - Throws: ``FuzzFailure`` unless all is well-formed HTTP.
  static func all(in bytes: [UInt8], mayOmitBodies: Bool, isCut: Bool) throws(FuzzFailure) -> [WireAnswer] {
    var answers: [WireAnswer] = [], rest = bytes[...]
    while !rest.isEmpty {
      guard let answer = try next(&rest, mayOmitBodies, isCut) else { break }
      if answer.status != 100 { answers.append(answer) }
    }
    return answers
  }

  private static func next(_ rest: inout ArraySlice<UInt8>, _ mayOmitBodies: Bool, _ isCut: Bool) throws(FuzzFailure)
    -> WireAnswer?
  {
    let shown = String(decoding: rest.prefix(300), as: UTF8.self)
    guard let end = rest.indices.first(where: { rest[$0] == 13 && rest[$0...].starts(with: [13, 10, 13, 10]) }) else {
      try FuzzFailure.unless(isCut, "an incomplete head: \(shown)")
      rest = []
      return nil
    }
    let lines = String(decoding: rest[..<end], as: UTF8.self).split(separator: "\r\n", omittingEmptySubsequences: false)
    let start = lines[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard start.count == 3, start[0] == "HTTP/1.1" || start[0] == "HTTP/1.0", start[1].utf8.count == 3, let status = Int(start[1])
    else {
      throw FuzzFailure(message: "not a status line: \(shown)")
    }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), colon > line.startIndex, !line.contains(where: \.isNewline) else {
        throw FuzzFailure(message: "not a header: \(line) in \(shown)")
      }
      headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingPrefix { $0 == " " }.description
    }
    rest = rest[(end + 4)...]
    let isOmitted = mayOmitBodies && (rest.isEmpty || rest.starts(with: "HTTP/1.".utf8))
    let body = status == 100 || status == 204 || status == 304 || isOmitted ? [] : try body(&rest, headers, isCut, shown)
    return body.map { WireAnswer(status: status, body: $0) }
  }

  private static func body(
    _ rest: inout ArraySlice<UInt8>, _ headers: [String: String], _ isCut: Bool, _ shown: String
  ) throws(FuzzFailure) -> [UInt8]? {
    if headers["transfer-encoding"] == "chunked" { return try chunks(&rest, isCut, shown) }
    guard let text = headers["content-length"], let length = Int(text), length >= 0 else {
      throw FuzzFailure(message: "an answer without a length: \(shown)")
    }
    guard rest.count >= length else {
      try FuzzFailure.unless(isCut, "an answer of \(rest.count) bytes instead of \(length): \(shown)")
      rest = []
      return nil
    }
    defer { rest = rest.dropFirst(length) }
    return Array(rest.prefix(length))
  }

  private static func chunks(_ rest: inout ArraySlice<UInt8>, _ isCut: Bool, _ shown: String) throws(FuzzFailure) -> [UInt8]? {
    var body: [UInt8] = []
    while true {
      let size = rest.firstIndex(of: 13).flatMap { end in
        Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16).map { (start: end + 2, count: $0) }
      }
      guard let size, size.start + size.count + 2 <= rest.endIndex else {
        try FuzzFailure.unless(isCut, "a body whose chunks do not end: \(shown)")
        rest = []
        return nil
      }
      body += rest[size.start..<(size.start + size.count)]
      rest = rest[(size.start + size.count + 2)...]
      if size.count == 0 { return body }
    }
  }
}
