import Support

/// Reads one request of a client from the bytes of its connection. A plain value without a socket.
struct LoopbackRequestReader: Sendable {
  enum Step: Equatable {
    /// More bytes are needed.
    case more
    case request(LoopbackRequest)
    /// Not a valid HTTP/1.1 request.
    case refused
    /// More bytes than are allowed.
    case tooLong
  }

  private let limit: Int
  private var bytes: [UInt8] = []
  /// The request and the number of bytes up to its end, once its head is complete.
  private var head: (request: LoopbackRequest, start: Int, end: Int)?

  /// - Parameter limit: The most bytes of the connection.
  init(limit: Int) { self.limit = limit }

  mutating func take(_ more: some Collection<UInt8>) -> Step {
    guard bytes.count + more.count <= limit else { return .tooLong }
    // What ends the head may be split between two parts.
    let start = max(0, bytes.count - 3)
    bytes += more
    if head == nil {
      let mark = Array("\r\n\r\n".utf8)
      guard let end = (start..<bytes.count).first(where: { bytes[$0...].starts(with: mark) }) else {
        // A connection that does not begin like HTTP need not go on.
        return bytes.allSatisfy({ $0 >= 0x20 || "\r\n\t".utf8.contains($0) }) ? .more : .refused
      }
      guard let (request, length) = LoopbackRequestReader.parsed(String(decoding: bytes[..<end], as: UTF8.self)) else {
        return .refused
      }
      guard length <= limit else { return .tooLong }
      head = (request, end + mark.count, end + mark.count + length)
    }
    guard var head, bytes.count >= head.end else { return .more }
    head.request.body = Array(bytes[head.start..<head.end])
    return .request(head.request)
  }

  /// Returns the request and the length of its body.
  private static func parsed(_ text: String) -> (LoopbackRequest, Int)? {
    // A carriage return and a line feed are one character.
    let lines = text.split(separator: "\r\n", omittingEmptySubsequences: false)
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0", isToken(words[0]), !words[1].isEmpty else {
      return nil
    }
    var request = LoopbackRequest(method: String(words[0]), target: String(words[1])), length: Int?
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), isToken(line[..<colon]) else { return nil }
      let value = trimmed(line[line.index(after: colon)...])
      let name = line[..<colon].lowercased()
      request.headers.append(LoopbackRequest.Header(name: name, value: value))
      switch name {
      case "transfer-encoding": return nil
      case "content-length":
        guard length == nil, !value.isEmpty, value.utf8.allSatisfy(\.isASCIIDigit), let count = Int(value) else { return nil }
        length = count
      default: break
      }
    }
    return (request, length ?? 0)
  }

  private static func isToken(_ text: Substring) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && !"()<>@,;:\\\"/[]?={}".utf8.contains($0) }
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text.drop { $0 == " " || $0 == "\t" }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
  }
}
