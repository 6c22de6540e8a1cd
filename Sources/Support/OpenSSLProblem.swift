import COpenSSL
import Glibc

/// Why OpenSSL did not do something: the library is missing or too old, or it refused. One sentence, which never quotes a key.
package struct OpenSSLProblem: Error, Equatable, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }

  private static let messageBytes = 400

  /// Passes `body` room for an error message.
  ///
  /// - Throws: The message, if `body` returns nil.
  package static func ifNil<Result>(
    _ body: (_ message: UnsafeMutablePointer<CChar>, _ size: Int) -> Result?
  ) throws(OpenSSLProblem) -> Result {
    var message = [CChar](repeating: 0, count: messageBytes), result: Result?
    message.withUnsafeMutableBufferPointer { buffer in
      if let start = buffer.baseAddress { result = body(start, buffer.count) }
    }
    if let result { return result }
    throw OpenSSLProblem(String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
  }

  /// Returns the bytes that `body` lets C allocate.
  ///
  /// - Parameter body: Returns 1, or 0 with a message.
  static func bytes(
    _ body: (UnsafeMutablePointer<tureen_bytes>, _ message: UnsafeMutablePointer<CChar>, _ size: Int) -> Int32
  ) throws(OpenSSLProblem) -> [UInt8] {
    try ifNil { message, size in
      var out = tureen_bytes()
      guard body(&out, message, size) == 1 else { return nil }
      defer { free(out.data) }
      return Array(UnsafeBufferPointer(start: out.data, count: out.count))
    }
  }
}
