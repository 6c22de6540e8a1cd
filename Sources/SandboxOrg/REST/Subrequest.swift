import JSON

/// A request inside another one. It is routed like any request, but authenticated and counted with
/// the outer one.
struct Subrequest {
  static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

  let method: String
  /// From `/services/data/vNN.0` on, without the query.
  var segments: [String]
  var query: [(name: String, value: String)]
  /// nil sends no body.
  var body: JSONValue?
  /// A file to send with it; the request becomes a form.
  var file: FormPart?
  /// By name in lower case.
  var headers: [String: String] = [:]

  init(method: String, path: String, body: JSONValue?) {
    self.method = method
    let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    segments = URLCoding.segments(parts.first ?? "")
    query = parts.count > 1 ? URLCoding.fields(parts[1]) : []
    self.body = body
  }

  /// The segments after `/services/data/vNN.0`, in lower case.
  var resource: [String] { segments.dropFirst(3).map { $0.lowercased() } }

  /// True if it works on collections of records.
  var isCollection: Bool { resource.starts(with: ["composite", "sobjects"]) }
  var isQuery: Bool { ["query", "queryall"].contains(resource.first ?? "") }

  /// True for resources that cannot be subrequests: calls with several requests, and jobs and
  /// files, whose bodies are not JSON.
  var isRefusedInside: Bool {
    guard let first = resource.first else { return false }
    return (first == "composite" && !isCollection) || first == "jobs"
  }

  /// Runs the request. Failures become responses.
  ///
  /// - Parameter place: Its index among the call's requests, from 0.
  func run(in call: Call, at place: Int) -> ServerReply {
    var headers = headers
    headers["host"] = call.request.header("host")
    if body != nil { headers["content-type"] = "application/json" }
    var request = ServerRequest(
      method: method, path: "/" + segments.joined(separator: "/"), segments: segments, query: query, headers: headers,
      body: body?.serialized() ?? [])
    if let file {
      let values = FormPart(name: "json", fileName: nil, contentType: "application/json", bytes: request.body[...])
      request.form = body == nil ? [file] : [values, file]
    }
    let reply = call.service.reply(inside: call, at: place, to: request)
    guard reply.stream == nil else {
      return .json(400, SandboxError.invalidInput("a file of this size must be fetched by a separate request").body)
    }
    return reply
  }
}

extension ServerReply {
  var isFailure: Bool { status >= 400 }

  /// Appends the body as JSON text: `null` if it is empty, a string if it is not JSON.
  func appendBody(to out: inout [UInt8]) {
    let type = headers.first { $0.name.lowercased() == "content-type" }?.value ?? ""
    if body.isEmpty {
      out.append(contentsOf: "null".utf8)
    } else if type.contains("json") {
      out.append(contentsOf: body)
    } else {
      JSONText.appendQuoted(String(decoding: body, as: UTF8.self), to: &out)
    }
  }
}

extension SandboxError {
  /// Reports a call whose parts contradict each other.
  static func invalidInput(_ message: String) -> Self { Self(status: 400, code: "INVALID_INPUT", message: message) }
}
