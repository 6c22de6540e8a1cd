import Glibc
import JSON

/// Removes tokens and secrets from a server's response for callers that must not see them, because
/// a server may repeat what it received.
package struct TokenRedaction: Sendable {
  package static let replacement = "[token]"
  private static let shortest = 8
  private let tokens: [[UInt8]]

  /// - Parameter secrets: Values shorter than eight bytes are ignored, because they would match
  ///   parts of words.
  package init(_ secrets: [String]) {
    let plain = secrets.filter { $0.utf8.count >= Self.shortest }
    tokens = Set(plain + plain.map { PercentEncoding.encode($0) }).map { Array($0.utf8) }.sorted { $0.count > $1.count }
  }

  package func cleaned(_ response: RestResponse) -> RestResponse {
    let headers = response.headers.map { (name: $0.name, value: cleaned($0.value)) }
    let bytes = response.body.withUnsafeBytes { cleaned($0) }
    return RestResponse(status: response.status, headers: headers, body: bytes.map { ResponseBody($0) } ?? response.body)
  }

  package func cleaned(_ error: RestError) -> RestError {
    var result = error
    result.message = cleaned(error.message)
    result.headers = error.headers.map { ($0.name, cleaned($0.value)) }
    result.body = error.body.map { cleaned($0) }
    result.errors = error.errors.map { cleaned($0) }
    return result
  }

  private func cleaned(_ value: JSONValue) -> JSONValue {
    let text = value.text, clean = cleaned(text)
    return clean == text ? value : (try? JSONValue(parsing: clean)) ?? .null
  }

  package func cleaned(_ text: String) -> String {
    var text = text
    return text.withUTF8 { cleaned(UnsafeRawBufferPointer($0)) }.map { String(decoding: $0, as: UTF8.self) } ?? text
  }

  /// Returns nil if the bytes contain no token.
  private func cleaned(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    var result: [UInt8]?
    for token in tokens {
      let found =
        if let result { result.withUnsafeBytes { Self.offsets(of: token, in: $0) } } else { Self.offsets(of: token, in: bytes) }
      guard !found.isEmpty else { continue }
      result = Self.replacing(found, token.count, in: result ?? Array(bytes))
    }
    return result
  }

  private static func offsets(of token: [UInt8], in bytes: UnsafeRawBufferPointer) -> [Int] {
    guard let start = bytes.baseAddress else { return [] }
    var offsets: [Int] = [], from = 0
    while from + token.count <= bytes.count,
      let hit = memchr(start + from, Int32(token[0]), bytes.count - from - token.count + 1)
    {
      let offset = start.distance(to: UnsafeRawPointer(hit)), isToken = memcmp(hit, token, token.count) == 0
      if isToken { offsets.append(offset) }
      from = offset + (isToken ? token.count : 1)
    }
    return offsets
  }

  private static func replacing(_ offsets: [Int], _ length: Int, in bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = [], from = 0
    for offset in offsets {
      result += bytes[from..<offset]
      result += Array(replacement.utf8)
      from = offset + length
    }
    return result + bytes[from...]
  }
}
