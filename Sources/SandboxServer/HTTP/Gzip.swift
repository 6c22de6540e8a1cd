import CZlib

/// Compresses and decompresses whole bodies. Any thread.
package enum Gzip {
  package enum Problem: Error, Equatable {
    /// Not gzip data, a wrong checksum, or a truncated end.
    case broken
    /// The result would exceed the limit; it is discarded.
    case tooLarge
  }

  private static let chunk = 64 * 1024

  /// - Parameter limit: The maximum size of the result in bytes: a small body can expand a
  ///   thousandfold.
  package static func decoded(_ bytes: [UInt8], limit: Int) throws(Problem) -> [UInt8] {
    var stream = z_stream()
    guard czlib_inflate_init(&stream) == Z_OK else { throw .broken }
    defer { inflateEnd(&stream) }
    var out: [UInt8] = []
    let result = bytes.withUnsafeBufferPointer { input -> Result<Void, Problem> in
      stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.avail_in = UInt32(clamping: input.count)
      while true {
        let code = appended(to: &out, &stream) { inflate($0, Z_NO_FLUSH) }
        if out.count > limit { return .failure(.tooLarge) }
        switch code {
        case Z_STREAM_END where stream.avail_in == 0: return .success(())
        // A gzip stream may have several members.
        case Z_STREAM_END: guard inflateReset(&stream) == Z_OK else { return .failure(.broken) }
        case Z_OK where stream.avail_in > 0 || stream.avail_out == 0: continue
        default: return .failure(.broken)
        }
      }
    }
    try result.get()
    return out
  }

  /// - Returns: nil if zlib runs out of memory.
  package static func encoded(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = z_stream()
    guard czlib_deflate_init(&stream, ServerTuning.gzipLevel) == Z_OK else { return nil }
    defer { deflateEnd(&stream) }
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count / 4 + 64)
    return bytes.withUnsafeBufferPointer { input in
      stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
      stream.avail_in = UInt32(clamping: input.count)
      while true {
        switch appended(to: &out, &stream, { deflate($0, Z_FINISH) }) {
        case Z_STREAM_END: return out
        case Z_OK: continue
        default: return nil
        }
      }
    }
  }

  /// Lets zlib produce one chunk and appends it.
  private static func appended(
    to out: inout [UInt8], _ stream: inout z_stream, _ step: (UnsafeMutablePointer<z_stream>) -> Int32
  ) -> Int32 {
    var code = Z_OK
    let written = [UInt8](unsafeUninitializedCapacity: chunk) { buffer, count in
      stream.next_out = buffer.baseAddress
      stream.avail_out = UInt32(chunk)
      code = step(&stream)
      count = chunk - Int(stream.avail_out)
    }
    out += written
    return code
  }
}

/// Handles `Content-Encoding` of requests and `Accept-Encoding` of responses.
package enum ContentCoding {
  /// Returns the request with its body decompressed.
  ///
  /// - Parameter limit: The maximum size of the decompressed body in bytes.
  /// - Throws: ``SandboxError`` 400 for invalid gzip data, 413 for a body over the limit, 415 for
  ///   another coding.
  package static func decoded(_ request: ServerRequest, limit: Int = ServerTuning.requestBodyBytes) throws(SandboxError)
    -> ServerRequest
  {
    var request = request
    // The tag of a compressed response names the same version as the plain one.
    for name in ["if-match", "if-none-match"] {
      if let tag = request.headers[name] { request.headers[name] = tag.replacing("-gzip\"", with: "\"") }
    }
    switch request.header("content-encoding")?.lowercased() {
    case nil, "", "identity": return request
    case "gzip", "x-gzip":
      do throws(Gzip.Problem) {
        request.body = try Gzip.decoded(request.body, limit: limit)
        return request
      } catch {
        guard error == .tooLarge else {
          throw SandboxError(status: 400, code: "BAD_REQUEST", message: "the request body is not complete gzip data")
        }
        throw SandboxError(
          status: 413, code: "REQUEST_ENTITY_TOO_LARGE",
          message: "the request body is larger than \(limit) bytes when it is decompressed")
      }
    case let coding?:
      throw SandboxError(status: 415, code: "UNSUPPORTED_MEDIA_TYPE", message: "Content encoding \(coding) is not supported")
    }
  }

  /// Compresses the response if the client accepts that and the body is worth it.
  package static func encoded(_ reply: ServerReply, for request: ServerRequest) -> ServerReply {
    var reply = reply
    let type = reply.headers.first { $0.name == "Content-Type" }?.value ?? ""
    guard type.contains("json") || type.hasPrefix("text/") else { return reply }
    reply.headers.append(("Vary", "Accept-Encoding"))
    guard reply.body.count >= ServerTuning.gzipMinimumBytes, request.method != "HEAD",
      accepts(request.header("accept-encoding") ?? ""), let body = Gzip.encoded(reply.body)
    else { return reply }
    reply.body = body
    reply.headers.append(("Content-Encoding", "gzip"))
    for index in reply.headers.indices where reply.headers[index].name == "ETag" {
      let tag = reply.headers[index].value
      if tag.hasSuffix("\"") { reply.headers[index].value = tag.dropLast() + "-gzip\"" }
    }
    return reply
  }

  /// Returns true if the header lists `gzip`, or `*`, with a weight above 0.
  package static func accepts(_ header: String) -> Bool {
    var anyWeight: Double?
    for item in header.lowercased().split(separator: ",") {
      let parts = item.split(separator: ";").map { $0.filter { !$0.isWhitespace } }
      guard let coding = parts.first else { continue }
      let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
      if coding == "gzip" || coding == "x-gzip" { return weight > 0 }
      if coding == "*" { anyWeight = weight }
    }
    return (anyWeight ?? 0) > 0
  }
}
