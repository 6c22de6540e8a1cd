import JSON
import LuaBridge
import Parse
import RestClient
import SmartStore

/// Implements the actions of `tureen.parse` on a named connection.
extension Host {
  /// Returns a client of a Parse server.
  /// - Parameter connection: The name of a connection of the kind `parse` in `connections.json`.
  /// - Throws: ``HostError`` `.invalidConfiguration` for an unknown name or a connection of another kind.
  public func parse(_ connection: String) throws -> ParseClient {
    let core = try core()
    do {
      return try ParseClient(core.connections.connection(named: connection))
    } catch let problem as RestConnections.Problem {
      throw HostError(.invalidConfiguration, problem.description)
    } catch let problem as ParseProblem {
      throw HostError(.invalidConfiguration, problem.description)
    }
  }

  public func parse(_ action: ParseAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    let capabilities = try capabilities()
    if action == .findInSoup {
      try capabilities.require("tureen.parse", for: call.store)
      return onUpdate(.finished(try findInSoup(call)))
    }
    if [.signUp, .logIn, .logOut].contains(action) {
      try capabilities.require("tureen.parse", for: "parse.\(action.rawValue)")
    }
    let client = try parse(try call.string("connection"))
    let calls = try core().user.calls
    calls.begin()
    let task = Task {
      defer { calls.end() }
      do {
        onUpdate(.finished(try await ParseCall(client: client, call: call).run(action).serialized()))
      } catch {
        onUpdate(.failed(ParseCall.described(error)))
      }
    }
    call.cancellation?.onCancel { task.cancel() }
  }

  private func findInSoup(_ call: ActionCall) throws -> [UInt8] {
    do {
      var places: [String: SoupQuery.ClassSoups] = [:]
      for (className, place) in call.value("places")?.objectValue ?? [:] {
        guard let soup = place["soup"]?.stringValue else {
          throw NetworkRequest.wrong("'places.\(className)' must be an object with 'soup'")
        }
        func names(_ key: String) -> [String: String] {
          let names = (place[key]?.objectValue ?? [:]).compactMap { field, name in name.stringValue.map { (field, $0) } }
          return Dictionary(names) { first, _ in first }
        }
        places[className] = SoupQuery.ClassSoups(soup: soup, links: names("links"), ids: names("ids"))
      }
      let found = try SoupQuery(try ParseCall.query(call), in: places).found(
        in: try core().store(call.store), cancellation: Host.query(of: call))
      return ParseCall.json(found).serialized()
    } catch {
      throw ParseCall.described(error)
    }
  }
}

/// Runs one call of a script.
private struct ParseCall {
  let client: ParseClient
  let call: ActionCall

  func run(_ action: ParseAction) async throws -> JSONValue {
    switch action {
    case .find:
      let query = try Self.query(call)
      guard call.value("all") == true else { return Self.json(try await client.page(query)) }
      return Self.json(ParseClient.Found(objects: try await client.findAll(query).map(\.row), count: nil))
    case .fetch:
      let object = try await client.fetch(
        call.string("className"), call.string("objectId"), include: Self.strings(call, "include") ?? [],
        keys: Self.strings(call, "keys"))
      return .object(object.row)
    case .save: return .array(try await save())
    case .delete: try await client.delete(call.string("className"), call.string("objectId"))
    case .signUp: return .object(try await client.signUp(call.value("fields")?.objectValue ?? [:]).row)
    case .logIn: return .object(try await client.logIn(call.string("username"), call.string("password")).row)
    case .logOut: try await client.logOut()
    case .currentUser: return try await client.currentUser().map { .object($0.row) } ?? .null
    case .findInSoup: break
    }
    return "OK"
  }

  static func strings(_ call: ActionCall, _ key: String) -> [String]? {
    call.value(key)?.arrayValue?.compactMap(\.stringValue)
  }

  static func query(_ call: ActionCall) throws -> ParseQuery {
    var query = try ParseQuery(call.string("className"), ParseCondition(call.value("where")?.objectValue ?? [:]))
    query.order = strings(call, "order") ?? []
    query.keys = strings(call, "keys")
    query.include = strings(call, "include") ?? []
    query.limit = try number("limit", call)
    query.skip = try number("skip", call) ?? 0
    query.counts = call.value("count") == true
    return query
  }

  private static func number(_ key: String, _ call: ActionCall) throws -> Int? {
    guard let number = call.value(key)?.integerValue else { return nil }
    guard let found = Int(exactly: number), found >= 0 else {
      throw NetworkRequest.wrong("'\(key)' must be 0 or more, got \(number)")
    }
    return found
  }

  static func json(_ found: ParseClient.Found) -> JSONValue {
    var answer: JSONObject = ["results": .array(found.objects.map { .object($0) })]
    answer["count"] = found.count.map { .integer(Int64($0)) }
    return .object(answer)
  }

  private func save() async throws -> [JSONValue] {
    let objects = try (call.value("objects")?.arrayValue ?? []).enumerated().map { i, value in
      guard let className = value["className"]?.stringValue, let id = value["objectId"]?.stringValue else {
        throw NetworkRequest.wrong("'objects[\(i + 1)]' must have 'className' and 'objectId', both strings")
      }
      var object = ParseObject(className, objectId: id, changes: value["changes"]?.objectValue ?? [:])
      object.setExpected(value["known"]?.objectValue ?? [:])
      return object
    }
    return await client.save(objects, clientKeyField: call.value("clientKeyField")?.stringValue).map { result in
      switch result {
      case .success(let object): ["objectId": .string(object.objectId), "fields": .object(object.fields)]
      case .failure(let error): ["error": .object(Self.json(error))]
      }
    }
  }

  private static func json(_ error: ParseSaveError) -> JSONObject {
    var json: JSONObject = error.cause.map { Self.details($0) } ?? [:]
    json["message"] = .string(error.message)
    if let code = error.code { json["parseCode"] = .integer(Int64(code)) }
    if error.isUnknown { json["isUnknown"] = true }
    json["objectId"] = error.savedId.map { .string($0) }
    if !error.uploaded.isEmpty { json["uploaded"] = .object(error.uploaded) }
    return json
  }

  private static func details(_ error: RestError) -> JSONObject {
    let known = error.bridgeError
    return ["domain": .string(known.domain), "code": .string(known.code), "retryable": .bool(known.isRetryable)]
  }

  /// Adds the Parse error code to the details of an error.
  static func described(_ error: any Error) -> any Error {
    if let problem = error as? ParseProblem {
      return BridgeError(domain: "parse", code: "invalidRequest", message: problem.description)
    }
    guard let code = (error as? RestError)?.parseCode else { return NetworkRequest.described(error) }
    let known = NetworkRequest.described(error)
    guard let described = known as? BridgeError ?? (known as? any BridgeErrorConvertible)?.bridgeError else { return error }
    var details = described.details
    details["parseCode"] = .integer(Int64(code))
    return BridgeError(
      domain: described.domain, code: described.code, message: described.message, isRetryable: described.isRetryable,
      details: details)
  }
}
