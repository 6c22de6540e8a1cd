import JSON
import RestClient

/// Several requests in one call. Later ones may refer to the responses of earlier ones as `@{name.path}`.
extension SalesforceRequests {
  /// - Parameter parts: At most 25 requests with JSON bodies. Each has a unique name: a letter, followed by letters, digits and
  ///   underscores.
  public func composite(
    _ parts: [(referenceId: String, request: RestRequest)], allOrNone: Bool = false
  ) -> RestRequest {
    var body = Array("{\"allOrNone\":\(allOrNone),\"compositeRequest\":[".utf8)
    for (n, part) in parts.enumerated() {
      if n > 0 { body.append(UInt8(ascii: ",")) }
      append(part.request, part.referenceId, to: &body)
    }
    body.append(contentsOf: "]}".utf8)
    return RestRequest(.POST, root + "/composite", body: body)
  }

  private func append(_ request: RestRequest, _ referenceId: String, to out: inout [UInt8]) {
    out.append(contentsOf: "{\"method\":\"\(request.method.rawValue)\",\"url\":".utf8)
    JSONText.appendQuoted(request.path, to: &out)
    out.append(contentsOf: ",\"referenceId\":".utf8)
    JSONText.appendQuoted(referenceId, to: &out)
    if !request.headers.isEmpty {
      var headers = JSONObject()
      for (name, value) in request.headers { headers[name] = .string(value) }
      out.append(contentsOf: ",\"httpHeaders\":".utf8)
      out.append(contentsOf: JSONValue.object(headers).serialized())
    }
    if let body = request.body {
      out.append(contentsOf: ",\"body\":".utf8)
      out.append(contentsOf: body)
    }
    out.append(UInt8(ascii: "}"))
  }
}
