import JSON

/// Runs the requests of a composite call or of one graph, in order.
struct CompositeRun {
  /// A request with the name by which later ones refer to its response.
  struct Item {
    let referenceId: String
    let request: Subrequest
  }
  struct Outcome {
    /// In the order of the items.
    let replies: [ServerReply]
    let isSuccessful: Bool
  }
  private struct RolledBack: Error {}

  let call: Call
  let allOrNone: Bool
  /// The index of the first item among all requests of the call; a call can have several graphs.
  var firstPlace = 0

  func run(_ items: [Item]) throws -> Outcome {
    var replies: [ServerReply] = []
    var references = CompositeReferences()
    guard allOrNone else {
      for (index, item) in items.enumerated() { replies.append(answer(item, firstPlace + index, &references)) }
      return Outcome(replies: replies, isSuccessful: !replies.contains(where: \.isFailure))
    }
    do {
      try call.org.transaction {
        for (index, item) in items.enumerated() {
          replies.append(answer(item, firstPlace + index, &references))
          if replies.last.map({ failed($0, item.request) }) == true { throw RolledBack() }
        }
      }
      return Outcome(replies: replies, isSuccessful: true)
    } catch is RolledBack {
      let culprit = replies.count - 1
      return Outcome(replies: items.indices.map { $0 == culprit ? replies[$0] : Self.halted }, isSuccessful: false)
    }
  }

  private func answer(_ item: Item, _ place: Int, _ references: inout CompositeReferences) -> ServerReply {
    var request = item.request
    let reply: ServerReply
    do {
      try references.resolve(&request)
      if allOrNone, request.isCollection { Self.makeAllOrNone(&request) }
      reply = request.run(in: call, at: place)
    } catch {
      reply = .json(error.status, error.body)
    }
    references.add(item.referenceId, reply)
    return reply
  }

  /// Lets the outer `allOrNone` override the inner one.
  private static func makeAllOrNone(_ request: inout Subrequest) {
    if request.method == "DELETE" {
      request.query.removeAll { $0.name == "allOrNone" }
      request.query.append(("allOrNone", "true"))
    } else if var body = request.body?.objectValue, body["records"] != nil {
      body["allOrNone"] = true
      request.body = .object(body)
    }
  }

  /// A collection answers 200 even if records failed.
  private func failed(_ reply: ServerReply, _ request: Subrequest) -> Bool {
    guard !reply.isFailure else { return true }
    guard request.isCollection, let items = (try? JSONValue(parsing: reply.body))?.arrayValue else { return false }
    return items.contains { $0["success"] == false }
  }

  static let halted: ServerReply = {
    let error = SandboxError(
      status: 400, code: "PROCESSING_HALTED",
      message: "The transaction was rolled back since another operation in the same transaction failed.")
    return .json(400, error.body)
  }()

  /// Appends
  /// `{"compositeResponse":[{"body":…,"httpHeaders":{…},"httpStatusCode":…,"referenceId":…}]}`.
  static func appendResponse(_ items: [Item], _ replies: [ServerReply], to out: inout [UInt8]) {
    out.append(contentsOf: "{\"compositeResponse\":[".utf8)
    for (index, reply) in replies.enumerated() {
      out.append(contentsOf: (index > 0 ? ",{\"body\":" : "{\"body\":").utf8)
      reply.appendBody(to: &out)
      var headers = JSONObject()
      for (name, value) in reply.headers where name.lowercased() != "content-type" { headers[name] = .string(value) }
      out.append(contentsOf: ",\"httpHeaders\":".utf8)
      headers.append(to: &out)
      out.append(contentsOf: ",\"httpStatusCode\":\(reply.status),\"referenceId\":".utf8)
      JSONText.appendQuoted(items[index].referenceId, to: &out)
      out.append(UInt8(ascii: "}"))
    }
    out.append(contentsOf: "]}".utf8)
  }
}
