import JSON

/// Serves `/composite/batch`: independent requests in one call.
enum BatchRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("POST", "/composite/batch", batch)
    table.data("POST", "/connect/batch", batch)
  }

  private static func batch(_ call: Call) throws -> ServerReply {
    let body = try call.jsonObject()
    guard let values = body["batchRequests"]?.arrayValue, !values.isEmpty else {
      throw SandboxError.json("the body needs the array 'batchRequests'")
    }
    guard values.count <= Tuning.subrequests else {
      throw SandboxError.invalidInput("a batch can have at most \(Tuning.subrequests) subrequests")
    }
    let files = call.hasForm ? try call.form().filter { !$0.isJSON } : []
    let requests = try values.map { try request($0, files) }
    let haltOnError = body["haltOnError"]?.boolValue ?? false
    var replies: [ServerReply] = []
    for request in requests {
      if haltOnError, replies.contains(where: \.isFailure) {
        replies.append(halted)
      } else {
        replies.append(run(request, call, at: replies.count))
      }
    }
    return .json(200, response(replies))
  }

  private static func response(_ replies: [ServerReply]) -> [UInt8] {
    var out = Array("{\"hasErrors\":\(replies.contains(where: \.isFailure)),\"results\":[".utf8)
    for (index, reply) in replies.enumerated() {
      out.append(contentsOf: "\(index > 0 ? "," : ""){\"statusCode\":\(reply.status),\"result\":".utf8)
      reply.appendBody(to: &out)
      out.append(UInt8(ascii: "}"))
    }
    out.append(contentsOf: "]}".utf8)
    return out
  }

  private static func run(_ request: Subrequest, _ call: Call, at place: Int) -> ServerReply {
    let version = request.segments.count > 2 ? request.segments[2] : ""
    // A newer version than the batch's could respond in a format its caller does not know.
    guard !request.isRefusedInside, number(version) <= number(call.version) else {
      let what = request.isRefusedInside ? "resource" : "version \(version)"
      return refused("this \(what) cannot be called in a batch of \(call.version)")
    }
    return request.run(in: call, at: place)
  }

  private static func number(_ version: String) -> Double { Double(version.dropFirst()) ?? 0 }

  private static func refused(_ message: String) -> ServerReply { .json(400, SandboxError.invalidInput(message).body) }

  private static func request(_ value: JSONValue, _ files: [FormPart]) throws(SandboxError) -> Subrequest {
    guard let object = value.objectValue else { throw .json("Cannot deserialize a subrequest from \(value.kindName)") }
    guard let method = object["method"]?.stringValue?.uppercased(), Subrequest.methods.contains(method) else {
      throw .invalidInput("every subrequest needs a 'method': one of GET, HEAD, POST, PUT, PATCH, DELETE")
    }
    guard let url = object["url"]?.stringValue, let path = path(url) else {
      throw .invalidInput("every subrequest needs a 'url' such as v66.0/sobjects/Account or /services/data/v66.0/limits")
    }
    var request = Subrequest(method: method, path: path, body: object["richInput"].flatMap { $0.isNull ? nil : $0 })
    request.file = try file(of: object, files)
    return request
  }

  /// Returns the form part named by `binaryPartName`, renamed as its resource expects.
  private static func file(of request: JSONObject, _ files: [FormPart]) throws(SandboxError) -> FormPart? {
    guard let name = request["binaryPartName"]?.stringValue else { return nil }
    guard let part = files.first(where: { $0.name == name }) else {
      throw .invalidInput("binaryPartName: the body has no binary part named '\(name)'")
    }
    let alias = request["binaryPartNameAlias"]?.stringValue ?? name
    return FormPart(name: alias, fileName: part.fileName, contentType: part.contentType, bytes: part.bytes)
  }

  /// Accepts `v66.0/…`, `/v66.0/…` and `/services/data/v66.0/…`.
  private static func path(_ url: String) -> String? {
    let rest = url.hasPrefix("/") ? String(url.dropFirst()) : url
    if rest.lowercased().hasPrefix("services/data/v") { return "/" + rest }
    return rest.lowercased().hasPrefix("v") ? "/services/data/" + rest : nil
  }

  private static let halted: ServerReply = {
    let error = SandboxError(
      status: 412, code: "BATCH_PROCESSING_HALTED", message: "Batch processing halted per request")
    return .json(412, error.body)
  }()
}
