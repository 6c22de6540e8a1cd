import CCurl

/// A request in libcurl's terms: zero-terminated texts.
struct CurlCall {
  private let request: WireRequest
  private var parts = Texts()
  private let connectMs: Int64, reuseS: Int64

  /// The texts, and where each starts in `bytes`.
  private struct Texts {
    var bytes: [UInt8] = []
    var starts: [Int] = []

    mutating func add(_ text: String) {
      starts.append(bytes.count)
      bytes += text.utf8
      bytes.append(0)
    }
  }

  private var lines: Int32 = 0
  private var hasContentType = false, hasAccept = false
  private let hasProxy: Bool, hasProxyUser: Bool

  init(_ request: WireRequest, _ configuration: TransportConfiguration, _ proxy: HTTPProxy?) {
    self.request = request
    connectMs = configuration.connectTimeoutMs
    reuseS = max(1, configuration.keepAliveMs / 1000)
    (hasProxy, hasProxyUser) = (proxy != nil, proxy?.user != nil)
    var fields: [UInt8] = [], hasEncoding = false
    for (name, value) in request.headers {
      switch CurlCall.Field(name) {
      // libcurl writes these itself.
      case .framing: continue
      case .acceptEncoding: hasEncoding = true
      case .contentType: hasContentType = true
      case .accept: hasAccept = true
      case .other: break
      }
      add(name, value, to: &fields)
    }
    if !hasEncoding {
      let isCompressed = configuration.compression && !request.url.address.isLoopback
      add("Accept-Encoding", isCompressed ? "gzip" : "identity", to: &fields)
    }
    for text in [
      request.url.address.origin + "/", request.url.target, request.method.rawValue, proxy?.origin ?? "", proxy?.user ?? "",
      proxy?.password ?? "",
    ] {
      parts.add(text)
    }
    parts.starts.append(parts.bytes.count)
    parts.bytes += fields
    parts.bytes.append(0)
  }

  private mutating func add(_ name: String, _ value: String, to fields: inout [UInt8]) {
    fields += name.utf8
    fields += ": ".utf8
    fields += value.utf8
    fields.append(0)
    lines += 1
  }

  private enum Field {
    case acceptEncoding, contentType, accept, framing, other

    init(_ name: String) {
      switch name.utf8.count {
      case 6 where name.equalsIgnoringCase("accept"): self = .accept
      case 12 where name.equalsIgnoringCase("content-type"): self = .contentType
      case 14 where name.equalsIgnoringCase("content-length"): self = .framing
      case 15 where name.equalsIgnoringCase("accept-encoding"): self = .acceptEncoding
      case 17 where name.equalsIgnoringCase("transfer-encoding"): self = .framing
      default: self = .other
      }
    }
  }

  /// Returns the request's body in memory of its own, which the caller frees; nil if none is sent. A POST, PUT or PATCH always
  /// has a length.
  func copyBody() -> UnsafeMutableRawPointer? {
    let hasLength = request.body != nil || [.POST, .PUT, .PATCH].contains(request.method)
    guard hasLength, request.method != .HEAD else { return nil }
    let body = request.body ?? []
    let memory = UnsafeMutableRawPointer.allocate(byteCount: max(1, body.count), alignment: 16)
    body.withUnsafeBytes { if let start = $0.baseAddress { memory.copyMemory(from: start, byteCount: $0.count) } }
    return memory
  }

  /// Calls `body` with all parts of the call but the body, the trust and the callbacks.
  func withRequest<R>(_ body: (inout ccurl_request) -> R) -> R {
    parts.bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress?.assumingMemoryBound(to: CChar.self) else { preconditionFailure("there are texts") }
      let texts = parts.starts.map { base + $0 }
      var call = ccurl_request(
        origin: texts[0], target: texts[1], method: texts[2], headers: texts[6], lines: lines, body: nil,
        body_count: Int64(request.body?.count ?? 0), has_content_type: hasContentType ? 1 : 0, has_accept: hasAccept ? 1 : 0,
        connect_ms: connectMs, reuse_s: reuseS, is_fresh: 0, trust: nil, proxy: hasProxy ? texts[3] : nil,
        proxy_user: hasProxyUser ? texts[4] : nil, proxy_password: hasProxyUser ? texts[5] : nil,
        context: UnsafeMutableRawPointer(mutating: base), started: { _ in 0 }, received: { _, _, _, _ in 0 })
      return body(&call)
    }
  }
}
