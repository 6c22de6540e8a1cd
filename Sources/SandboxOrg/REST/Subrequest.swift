import JSON

/// A request inside another one: it runs through the same routes as real requests, signed in and counted with the outer one.
struct Subrequest {
  static let methods: Set = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]

  let method: String
  /// From `/services/data/vNN.0` on, without the query.
  var segments: [String]
  var query: [(name: String, value: String)]
  /// nil sends none.
  var body: JSONValue?
  /// A file that goes with it: then it is sent as a form.
  var file: FormPart?
  /// Lower-case names.
  var headers: [String: String] = [:]

  init(method: String, path: String, body: JSONValue?) {
    self.method = method
    let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    segments = URLCoding.segments(parts.first ?? "")
    query = parts.count > 1 ? URLCoding.fields(parts[1]) : []
    self.body = body
  }

  /// What follows `/services/data/vNN.0`, in lower case.
  var resource: [String] { segments.dropFirst(3).map { $0.lowercased() } }

  /// Whether this works on collections of records.
  var isCollection: Bool { resource.starts(with: ["composite", "sobjects"]) }
  var isQuery: Bool { ["query", "queryall"].contains(resource.first ?? "") }

  /// Calls that hold several requests cannot be held themselves, and jobs and files have bodies of other kinds.
  var isRefusedInside: Bool {
    guard let first = resource.first else { return false }
    return (first == "composite" && !isCollection) || first == "jobs"
  }

  /// Runs it and answers for it; failures are replies too.
  /// - Parameter place: Among the call's requests, from 0 on.
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
      return .json(400, SandboxError.invalidInput("a file of this size has to be fetched by a request of its own").body)
    }
    return reply
  }
}

extension ServerReply {
  var isFailure: Bool { status >= 400 }

  /// The body as a JSON text: `null` without one, a string when it is no JSON.
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
  /// A call whose parts do not make sense together.
  static func invalidInput(_ message: String) -> Self { Self(status: 400, code: "INVALID_INPUT", message: message) }
}
