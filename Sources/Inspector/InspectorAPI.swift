import JSON
import LuaBridge
import MobileSync
import Support
import Tureen

/// Answers the routes that look, each with the result of one action.
struct InspectorAPI: Sendable {
  let looking: ActionCalls
  /// Whether the page may change data.
  let canWrite: Bool
  /// Milliseconds that a query may take.
  let queryMs: Int
  /// The options that the commands of the page need to find the same home, quoted for a shell.
  let options: [String]

  func answer(_ route: Route, _ request: LoopbackRequest) throws -> LoopbackAnswer {
    let parameters = Parameters(request.query)
    switch route {
    case .about:
      return .json(
        200,
        [
          "version": .string(Tureen.version), "canWrite": .bool(canWrite), "options": .array(options.map { .string($0) }),
        ])
    case .overview: return .json(200, try text("mobilesync", "getOverview", [:]))
    case .health: return .json(200, try text("host", "doctor", ["offline": true]))
    case .unsent(let store): return try unsent(store, parameters)
    case .conflicts(let store): return try conflicts(store, parameters)
    case .conflict(let store, let soup, let entry):
      let found = try conflict(store, soup, entry)
      return .json(200, Clipping.record(found).serialized(), headers: [("ETag", try Self.tag(of: found))])
    case .runs(let store):
      var arguments = filters(parameters)
      arguments["before"] = parameters.number("before").map { .integer($0) }
      arguments["limit"] = .integer(Int64(parameters.limit))
      return try history("getRuns", of: store, arguments)
    case .run(let store, let number):
      return try history("getRuns", of: store, ["run": .integer(number)])
    case .requests(let store):
      var arguments = filters(parameters)
      arguments["requests"] = true
      arguments["limit"] = .integer(Int64(parameters.limit))
      return try history("getRuns", of: store, arguments)
    case .entry(let store, let soup, let entry): return try self.entry(store, soup, entry)
    case .explain(let store, let soup, let entry):
      return try history("explainEntry", of: store, ["soupName": .string(soup), "entryId": .integer(entry)])
    case .query(let store): return try SmartSqlConsole(api: self, store: store).answer(try Self.object(request))
    case .events, .resolve, .discard, .runSync, .stopSync: throw APIError.notFound
    }
  }

  private func filters(_ parameters: Parameters) -> JSONObject {
    var arguments = JSONObject()
    arguments["syncName"] = parameters.text("sync").map { .string($0) }
    arguments["syncId"] = parameters.number("syncId").map { .integer($0) }
    arguments["since"] = parameters.number("since").map { .integer($0) }
    if parameters.text("failed") == "true" { arguments["failed"] = true }
    return arguments
  }

  // MARK: Routes

  private func history(_ action: String, of store: StoreReference, _ arguments: JSONObject) throws -> LoopbackAnswer {
    .json(200, Clipping.record(try value("mobilesync", action, of: store, arguments)))
  }

  private func unsent(_ store: StoreReference, _ parameters: Parameters) throws -> LoopbackAnswer {
    var arguments: JSONObject = ["withValues": true]
    arguments["soupName"] = parameters.text("soup").map { .string($0) }
    arguments["state"] = parameters.text("state").map { .string($0) }
    var found = try value("mobilesync", "getDirtyEntries", of: store, arguments).arrayValue ?? []
    if let entry = parameters.number("entry") { found = found.filter { $0["entryId"] == .integer(entry) } }
    let page = found.dropFirst(parameters.after).prefix(parameters.limit)
    return .json(200, Self.list("entries", page.map { Clipping.cut($0, 300) }, of: found.count, parameters))
  }

  /// The conflicts without their records, which may be large.
  private func conflicts(_ store: StoreReference, _ parameters: Parameters) throws -> LoopbackAnswer {
    var arguments = JSONObject()
    arguments["soupName"] = parameters.text("soup").map { .string($0) }
    let found = try value("mobilesync", "getConflicts", of: store, arguments).arrayValue ?? []
    let page = found.dropFirst(parameters.after).prefix(parameters.limit).map { conflict -> JSONValue in
      var short = conflict.objectValue ?? [:]
      short["title"] =
        short["local"]?.objectValue.flatMap { RecordTitle.title(of: $0) }.map { JSONValue.string($0) } ?? JSONValue.null
      for key in ["base", "local", "server", "merged"] { short[key] = nil }
      return Clipping.cut(.object(short), 300)
    }
    return .json(200, Self.list("conflicts", page, of: found.count, parameters))
  }

  /// - Throws: ``APIError`` 404 if the entry has no conflict.
  func conflict(_ store: StoreReference, _ soup: String, _ entry: Int64) throws -> JSONValue {
    let found = try value(
      "mobilesync", "getConflicts", of: store, ["soupName": .string(soup), "entryId": .integer(entry)])
    guard let one = found.arrayValue?.first else {
      throw APIError(404, "noSuchConflict", "entry \(entry) of '\(soup)' has no conflict")
    }
    return one
  }

  private func entry(_ store: StoreReference, _ soup: String, _ entry: Int64) throws -> LoopbackAnswer {
    let found = try value(
      "smartstore", "pgRetrieveSoupEntries", of: store, ["soupName": .string(soup), "entryIds": [.integer(entry)]])
    guard let one = found.arrayValue?.first else { throw APIError(404, "noSuchEntry", "'\(soup)' has no entry \(entry)") }
    return .json(200, Clipping.record(one))
  }

  // MARK: Parts

  /// A part of a list, and what follows it.
  private static func list(_ name: String, _ page: [JSONValue], of total: Int, _ parameters: Parameters) -> JSONValue {
    let next = parameters.after + page.count
    return .object([
      name: .array(page), "total": .integer(Int64(total)), "next": next < total ? .integer(Int64(next)) : .null,
    ])
  }

  /// Tells versions of a value apart, so that a decision is not applied to another version than was shown.
  static func tag(of value: JSONValue) throws -> String { "\"\(Digest.hex(try Digest.sha256(value.serialized())))\"" }

  /// The object in a request's body.
  static func object(_ request: LoopbackRequest) throws(APIError) -> JSONObject {
    guard request.values("content-type").first?.lowercased() == "application/json" else {
      throw APIError(415, "notJSON", "the request must have the Content-Type application/json")
    }
    guard let object = (try? JSONValue(parsing: request.body))?.objectValue else {
      throw APIError(400, "notJSON", "the request must be a JSON object")
    }
    return object
  }

  // MARK: Actions

  func value(
    _ service: String, _ action: String, of store: StoreReference, _ arguments: JSONObject, limitMs: Int? = nil
  ) throws -> JSONValue {
    try JSONValue(parsing: text(service, action, of: store, arguments, limitMs: limitMs))
  }

  private func text(
    _ service: String, _ action: String, of store: StoreReference, _ arguments: JSONObject, limitMs: Int? = nil
  ) throws -> [UInt8] {
    var arguments = arguments
    arguments["storeName"] = .string(store.name)
    arguments["isGlobalStore"] = .bool(store.isGlobal)
    return try text(service, action, arguments, limitMs: limitMs)
  }

  private func text(_ service: String, _ action: String, _ arguments: JSONObject, limitMs: Int? = nil) throws -> [UInt8] {
    do {
      return try looking.perform(service, action, arguments, limitMs: limitMs).get()
    } catch is ActionCalls.Late {
      throw APIError(504, "tooSlow", "the query was ended after \(queryMs) ms; an index or a LIMIT may help")
    }
  }
}

/// The error of an action, as JSON text.
struct ActionFailure: Error {
  let text: [UInt8]

  var answer: LoopbackAnswer {
    let error = try? JSONValue(parsing: text), code = error?["code"]?.stringValue ?? ""
    let status = error?["retryable"]?.boolValue == true ? 503 : code.hasPrefix("noSuch") ? 404 : 422
    return .json(status, text)
  }
}

extension ActionCalls {
  /// A query was cancelled because it took too long.
  struct Late: Error {}
}

extension ActionCalls.Reply {
  /// - Throws: ``ActionFailure``, ``ActionCalls/Late``.
  func get() throws -> [UInt8] {
    switch self {
    case .success(let text): return text
    case .failure(let text): throw ActionFailure(text: text)
    case .late: throw ActionCalls.Late()
    }
  }
}
