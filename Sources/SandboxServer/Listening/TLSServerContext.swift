import COpenSSL
import NIOCore
import Support

/// A certificate with its key, and the settings of TLS: version 1.2 or later, HTTP/1.1. Any thread.
final class TLSServerContext: @unchecked Sendable {  // OpenSSL changes it no more, and counts references atomically
  private let context: OpaquePointer

  /// - Parameters:
  ///   - chain: PEM of the certificate, and of those above it.
  ///   - key: PEM of the private key.
  init(chain: String, key: String) throws(OpenSSLProblem) {
    context = try OpenSSLProblem.ifNil { tureen_tls_context_make(chain, key, $0, $1) }
  }

  deinit { tureen_tls_context_free(context) }

  /// Makes the handler of one connection, the first in its pipeline.
  func makeHandler() throws -> TLSServerHandler {
    guard let tls = tureen_tls_make(context) else { throw OpenSSLProblem("there is no memory for a TLS connection") }
    return TLSServerHandler(TLSSession(tls))
  }
}

/// The server's side of TLS for one connection, without the connection: it turns encrypted bytes into plain ones and back. One
/// owner at a time.
final class TLSSession {
  /// The outcome of the client's bytes.
  enum Progress {
    case needsMore
    /// The client has announced that nothing follows. Writing still works.
    case ended
    /// The client does not speak TLS, or has sent a damaged record. There may be an alert to take.
    case failed
  }

  /// The longest plain text of one record: OpenSSL then never has more than a record to keep.
  private static let recordBytes = 16_384
  /// The room for decrypted bytes below which the buffer grows.
  private static let leastSpace = 1_024

  private let tls: OpaquePointer

  init(_ tls: OpaquePointer) { self.tls = tls }

  deinit { tureen_tls_free(tls) }

  /// Whether the handshake is complete.
  var isReady: Bool { tureen_tls_is_ready(tls) == 1 }

  /// Decrypts the client's bytes, which may continue the handshake.
  func read(_ encrypted: ByteBuffer, into plain: inout ByteBuffer) -> Progress {
    let isFed = encrypted.withUnsafeReadableBytes { tureen_tls_feed(tls, $0.baseAddress, $0.count) }
    guard isFed == 1 else { return .failed }
    while true {
      var count = Int(TUREEN_TLS_FAILED)
      plain.writeWithUnsafeMutableBytes(minimumWritableBytes: Self.leastSpace) { space in
        if let start = space.baseAddress { count = tureen_tls_read(tls, start, space.count) }
        return max(0, count)
      }
      if count > 0 { continue }
      return count == Int(TUREEN_TLS_NEEDS_MORE) ? .needsMore : count == Int(TUREEN_TLS_ENDED) ? .ended : .failed
    }
  }

  /// Encrypts, once the handshake is complete.
  ///
  /// - Returns: false if nothing more can be encrypted.
  func write(_ plain: ByteBuffer, into encrypted: inout ByteBuffer) -> Bool {
    var rest = plain
    while let record = rest.readSlice(length: min(rest.readableBytes, Self.recordBytes)), record.readableBytes > 0 {
      guard record.withUnsafeReadableBytes({ tureen_tls_write(tls, $0.baseAddress, $0.count) }) == 1 else { return false }
      take(into: &encrypted)
    }
    return true
  }

  /// Announces to the client that nothing follows.
  func close() { tureen_tls_close(tls) }

  /// Takes what the handshake, an alert or a farewell has for the client.
  func take(into encrypted: inout ByteBuffer) {
    while true {
      let waiting = tureen_tls_waiting(tls)
      guard waiting > 0 else { return }
      let count = encrypted.writeWithUnsafeMutableBytes(minimumWritableBytes: waiting) { space in
        space.baseAddress.map { tureen_tls_take(tls, $0, space.count) } ?? 0
      }
      guard count > 0 else { return }
    }
  }
}
