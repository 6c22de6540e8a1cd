import JSON
import Support

/// Serves `/composite` and `/composite/graph`: requests that refer to each other's responses.
enum CompositeRoutes {
  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    table.data("GET", "/composite", resources)
    table.data("POST", "/composite", composite)
    table.data("POST", "/composite/graph", graph)
  }

  private static func resources(_ call: Call) -> ServerReply {
    var list = JSONObject()
    for name in ["tree", "batch", "sobjects", "graph"] { list[name] = .string("\(call.dataRoot)/composite/\(name)") }
    return .json(200, .object(list))
  }

  private static func composite(_ call: Call) throws -> ServerReply {
    let body = try call.jsonObject()
    let items = try items(of: body, limit: Tuning.subrequests)
    guard items.count(where: { $0.request.isQuery || $0.request.isCollection }) <= Tuning.queriesPerComposite else {
      throw SandboxError.invalidInput(
        "a composite request can have at most \(Tuning.queriesPerComposite) query and collection subrequests")
    }
    let outcome = try CompositeRun(call: call, allOrNone: body["allOrNone"]?.boolValue ?? false).run(items)
    var out: [UInt8] = []
    CompositeRun.appendResponse(items, outcome.replies, to: &out)
    return .json(200, out)
  }

  // MARK: Graphs

  private static func graph(_ call: Call) throws -> ServerReply {
    guard let graphs = try call.jsonObject()["graphs"]?.arrayValue, !graphs.isEmpty else {
      throw SandboxError.json("the body needs the array 'graphs'")
    }
    guard graphs.count <= Tuning.graphs else {
      throw SandboxError.invalidInput("a call can have at most \(Tuning.graphs) graphs")
    }
    let parsed = try graphs.map { try graph($0) }
    guard parsed.reduce(0, { $0 + $1.items.count }) <= Tuning.graphRequests else {
      throw SandboxError.invalidInput("the graphs of a call can have at most \(Tuning.graphRequests) subrequests")
    }
    try refuseDuplicates(parsed.map(\.id), "graphId")
    var out = Array("{\"graphs\":[".utf8)
    var failures = 0, place = 0
    for (index, graph) in parsed.enumerated() {
      let outcome =
        failures < Tuning.failedGraphs
        ? try CompositeRun(call: call, allOrNone: true, firstPlace: place).run(graph.items)
        : CompositeRun.Outcome(replies: graph.items.map { _ in CompositeRun.halted }, isSuccessful: false)
      if !outcome.isSuccessful { failures += 1 }
      place += graph.items.count
      out.append(contentsOf: (index > 0 ? ",{\"graphId\":" : "{\"graphId\":").utf8)
      JSONText.appendQuoted(graph.id, to: &out)
      out.append(contentsOf: ",\"graphResponse\":".utf8)
      CompositeRun.appendResponse(graph.items, outcome.replies, to: &out)
      out.append(contentsOf: ",\"isSuccessful\":\(outcome.isSuccessful)}".utf8)
    }
    out.append(contentsOf: "]}".utf8)
    return .json(200, out)
  }

  private static func graph(_ value: JSONValue) throws -> (id: String, items: [CompositeRun.Item]) {
    guard let graph = value.objectValue, let id = graph["graphId"]?.stringValue, !id.isEmpty else {
      throw SandboxError.invalidInput("every graph needs a 'graphId'")
    }
    let items = try items(of: graph, limit: Tuning.graphRequests)
    if let item = items.first(where: { $0.request.resource.first != "sobjects" || $0.request.resource.count < 2 }) {
      throw SandboxError.invalidInput("graphs can only contain requests on sobject rows; '\(item.referenceId)' is not one")
    }
    return (id, items)
  }

  // MARK: Subrequests

  private static func items(of body: JSONObject, limit: Int) throws(SandboxError) -> [CompositeRun.Item] {
    guard let values = body["compositeRequest"]?.arrayValue, !values.isEmpty else {
      throw .json("the body needs the array 'compositeRequest'")
    }
    guard values.count <= limit else { throw .invalidInput("a composite request can have at most \(limit) subrequests") }
    var items: [CompositeRun.Item] = []
    for value in values { items.append(try item(value)) }
    try refuseDuplicates(items.map(\.referenceId), "referenceId")
    return items
  }

  private static func item(_ value: JSONValue) throws(SandboxError) -> CompositeRun.Item {
    guard let object = value.objectValue else { throw .json("Cannot deserialize a subrequest from \(value.kindName)") }
    guard let id = object["referenceId"]?.stringValue, isReferenceId(id) else {
      throw .invalidInput(
        "every subrequest needs a 'referenceId' that consists of a letter followed by letters, digits and underscores")
    }
    guard let method = object["method"]?.stringValue?.uppercased(), Subrequest.methods.contains(method) else {
      throw .invalidInput("subrequest '\(id)' needs a 'method': one of GET, HEAD, POST, PUT, PATCH, DELETE")
    }
    guard let url = object["url"]?.stringValue, url.hasPrefix("/services/data/v") else {
      throw .invalidInput("the 'url' of subrequest '\(id)' must begin with /services/data/vNN.0/")
    }
    var request = Subrequest(method: method, path: url, body: object["body"].flatMap { $0.isNull ? nil : $0 })
    guard !request.isRefusedInside else {
      throw .invalidInput("subrequest '\(id)': this resource cannot be called in a composite request")
    }
    for (name, value) in object["httpHeaders"]?.objectValue ?? [:] {
      guard !["accept", "authorization", "content-type"].contains(name.lowercased()) else {
        throw .invalidInput("subrequest '\(id)' may not have the header '\(name)'")
      }
      request.headers[name.lowercased()] = value.stringValue ?? value.text
    }
    return CompositeRun.Item(referenceId: id, request: request)
  }

  private static func isReferenceId(_ text: String) -> Bool {
    guard let first = text.utf8.first, first.isASCIILetter else { return false }
    return text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
  }

  private static func refuseDuplicates(_ ids: [String], _ name: String) throws(SandboxError) {
    var seen: Set<String> = []
    if let duplicate = ids.first(where: { !seen.insert($0).inserted }) {
      throw .invalidInput("the \(name) '\(duplicate)' is used more than once")
    }
  }
}
