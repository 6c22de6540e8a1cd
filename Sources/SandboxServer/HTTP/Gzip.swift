import CZlib

/// gzip, both ways, over whole bodies. Any thread.
package enum Gzip {
  package enum Problem: Error, Equatable {
    /// No gzip data, or its checksum is wrong, or its end is missing.
    case broken
    /// It would become larger than allowed; nothing of it is kept.
    case tooLarge
  }

  private static let chunk = 64 * 1024

  /// - Parameter limit: Bytes the result may have: a small body can become a thousand times as large.
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
        // One gzip file may follow another.
        case Z_STREAM_END: guard inflateReset(&stream) == Z_OK else { return .failure(.broken) }
        case Z_OK where stream.avail_in > 0 || stream.avail_out == 0: continue
        default: return .failure(.broken)
        }
      }
    }
    try result.get()
    return out
  }

  /// - Returns: nil when zlib cannot, for want of memory.
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

  /// Lets zlib write one chunk.
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

/// `Content-Encoding` of requests and `Accept-Encoding` of answers.
package enum ContentCoding {
  /// The request with its body as it was before it was compressed.
  /// - Parameter limit: Bytes it may have then.
  /// - Throws: ``SandboxError`` 400 for data that is no gzip, 413 for too much of it, 415 for another coding.
  package static func decoded(_ request: ServerRequest, limit: Int = ServerTuning.requestBodyBytes) throws(SandboxError)
    -> ServerRequest
  {
    var request = request
    // Tags of compressed answers name the same version of a row.
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

  /// The answer, compressed when the client asks for that and it is worth while.
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

  /// Whether `gzip`, or any coding, stands in the list with a weight above 0.
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
