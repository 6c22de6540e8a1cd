import JSON
import MobileSync
import RestClient

/// Sends a run's requests to its Parse server, again where a refusal says that it may pass.
struct ParseExchange: Sendable {
  let connection: RestConnection
  let server: ServerAddress
  /// nil outside a sync.
  let control: RunControl?
  /// nil outside a sync: a program's own calls act as the user of the moment.
  let pin: SessionPin?

  /// - Throws: ``SyncError`` `.invalidTarget` for a connection that cannot be used, `.internalError` without any.
  /// - Parameter pin: Of a run that makes several of these; nil for one of its own.
  init(_ connections: RestConnections?, named name: String, _ control: RunControl, pin: SessionPin? = nil) throws {
    connection = try connections.connection(named: name, label: ParseTarget.label)
    server = try ParseTarget.checked("connection") { [connection] () throws(ParseProblem) in
      try ServerAddress(connection.settings.baseURL)
    }
    self.control = control
    self.pin = pin ?? SessionPin()
  }

  /// Of a program's own requests.
  init(_ connection: RestConnection) throws(ParseProblem) {
    self.connection = connection
    server = try ServerAddress(connection.settings.baseURL)
    control = nil
    pin = nil
  }

  /// - Throws: ``SyncError`` `.invalidTarget` for a name that is no connection to a Parse server.
  static func check(_ name: String, _ connections: RestConnections?) throws(SyncError) {
    try connections.check(name, label: ParseTarget.label)
    guard let kind = connections?.settings(of: name)?.kind, kind != .parse else { return }
    throw SyncError(
      .invalidTarget,
      "\(ParseTarget.label): connection '\(name)' is not one to a Parse server; give it \"kind\": \"parse\""
    ).at(.key("connection"))
  }

  /// - Throws: `RestError`; `CancellationError` once the run is to end, or another user has signed in since it began.
  func send(_ request: RestRequest, as kind: RequestKind) async throws -> ConnectionResponse {
    var attempt = 1
    while true {
      if let control { try control.check() } else { try Task.checkCancellation() }
      do {
        var options = ConnectionOptions(cache: .bypass)
        // The soup holds the records.
        options.usesStoredAnswers = false
        try pin?.check(try await connection.userSession(), connection.name)
        return try await connection.send(request, options)
      } catch {
        // What the status tells was repeated by the connection; codes that come with 400 are not.
        guard error.code == .httpStatus, error.status == 400, request.isRepeatable, let refusal = ServerRefusal(error),
          case .retry(let attempts) = refusal.action(for: kind),
          let seconds = BackOff.seconds(afterAttempt: attempt, of: attempts, random: connection.random(), asked: nil)
        else { throw error }
        try await connection.wait(seconds: seconds)
        attempt += 1
      }
    }
  }

  /// Sends a query. A refusal of it says what to do, and never that the class is empty.
  func query(_ query: ParseQuery) async throws -> ConnectionResponse {
    do {
      return try await send(query.request(on: server), as: .query)
    } catch let error as RestError {
      throw failure(error, of: query.className)
    }
  }

  /// The same error in words that say what to do.
  private func failure(_ error: RestError, of className: String) -> RestError {
    guard error.code == .httpStatus, let refusal = ServerRefusal(error) else { return error }
    switch refusal.action(for: .query) {
    case .noPermission:
      return error.recoded(
        .httpStatus,
        "class '\(className)' cannot be read with these keys and this session: \(refusal.message); nothing is removed here")
    case .pause:
      return error.recoded(.quotaExhausted, "the server's request limit is used up: \(refusal.message)")
    case .signIn:
      return error.recoded(.notAuthenticated, "the server wants a session: \(refusal.message)")
    default: return error
    }
  }

  /// The objects of a page as values.
  func objects(_ query: ParseQuery) async throws -> [JSONObject] {
    let response = try await self.query(query)
    guard let list = (try response.response.json())["results"]?.arrayValue else {
      throw response.response.invalidBody("the answer has no 'results'")
    }
    return list.compactMap(\.objectValue)
  }
}

extension ParseExchange {
  /// Objects with these ids, by id. What does not come is deleted, hidden, or fails the condition.
  ///
  /// Servers may lower the limit without a word: what is missing is asked for until none of it comes.
  func objects(
    _ ids: [String], in className: String, keys: [String], chunk: Int, _ condition: ParseCondition = .always
  ) async throws -> [String: JSONObject] {
    var found: [String: JSONObject] = [:]
    for start in stride(from: 0, to: ids.count, by: chunk) {
      var open = Array(ids[start..<min(start + chunk, ids.count)])
      while !open.isEmpty {
        let asked = open
        let query = try ParseTarget.checked("className") { () throws(ParseProblem) in
          var query = try ParseQuery(className, .all([condition, .isIn("objectId", asked.map { .string($0) })]))
          query.keys = keys
          query.limit = asked.count
          return query
        }
        let objects = try await objects(query)
        for object in objects { if let id = object["objectId"]?.stringValue { found[id] = object } }
        open = asked.filter { found[$0] == nil }
        if objects.isEmpty || open.count == asked.count { break }
      }
    }
    return found
  }
}

extension ServerRefusal {
  /// nil for an error that is no answer.
  init?(_ error: RestError) {
    guard let status = error.status else { return nil }
    self.init(status: status, body: Array((error.body ?? "").utf8))
  }
}
