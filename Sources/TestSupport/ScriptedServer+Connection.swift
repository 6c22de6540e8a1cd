import Glibc

/// Reads requests from a socket and writes responses. Used by one thread.
struct ServerConnection {
  let socket: Int32
  /// Bytes of a request after which reading stops; nil for no limit.
  private let readLimit: Int?
  private var buffer: [UInt8] = []

  init(socket: Int32, readLimit: Int? = nil) {
    self.socket = socket
    self.readLimit = readLimit
  }

  /// Reads the next request; nil at the end of the connection or if the bytes are not HTTP.
  mutating func nextRequest() -> RecordedRequest? {
    var end = headEnd()
    while end == nil {
      guard receive() else { return nil }
      end = headEnd()
    }
    guard let end else { return nil }
    let lines = String(decoding: buffer[..<end], as: UTF8.self).split(separator: "\r\n")
    let start = lines.first?.split(separator: " ") ?? []
    guard start.count == 3 else { return nil }
    let headers = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      return (String(line[..<colon]), String(line[line.index(after: colon)...].drop { $0 == " " }))
    }
    let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
    while buffer.count < end + 4 + length {
      if let readLimit, buffer.count >= readLimit { return nil }
      guard receive() else { return nil }
    }
    let body = Array(buffer[(end + 4)..<(end + 4 + length)])
    buffer.removeFirst(end + 4 + length)
    return RecordedRequest(method: String(start[0]), target: String(start[1]), headers: headers, body: body)
  }

  /// - Returns: False if the client has disconnected.
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { source -> Int in
        guard let base = source.baseAddress else { return -1 }
        return Glibc.send(socket, base + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count < 0 && errno == EINTR { continue }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  private func headEnd() -> Int? {
    guard buffer.count >= 4 else { return nil }
    return (0...(buffer.count - 4)).first { at in
      buffer[at] == 13 && buffer[at + 1] == 10 && buffer[at + 2] == 13 && buffer[at + 3] == 10
    }
  }

  private mutating func receive() -> Bool {
    var chunk = [UInt8](repeating: 0, count: 64 * 1024)
    let count = recv(socket, &chunk, chunk.count, 0)
    if count < 0 && errno == EINTR { return receive() }
    guard count > 0 else { return false }
    buffer += chunk[..<count]
    return true
  }
}
