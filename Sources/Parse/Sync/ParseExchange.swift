import JSON
import MobileSync
import RestClient

/// Sends a run's requests to its Parse server, and retries those whose refusal is transient.
struct ParseExchange: Sendable {
  let connection: RestConnection
  let server: ServerAddress
  /// nil outside of a sync.
  let control: RunControl?
  /// nil outside of a sync: a program's own calls act as the current user.
  let pin: SessionPin?
  /// Whether requests are sent or only noted for a plan.
  var intent = UploadIntent.send

  /// Makes an exchange for a sync.
  ///
  /// - Parameter pin: The pin shared by all exchanges of a run; nil makes a new one.
  /// - Throws: ``SyncError`` `.invalidTarget` for an unusable connection, `.internalError` if there
  ///   are no connections.
  init(_ connections: RestConnections?, named name: String, _ control: RunControl, pin: SessionPin? = nil) throws {
    connection = try connections.connection(named: name, label: ParseTarget.label)
    server = try ParseTarget.checked("connection") { [connection] () throws(ParseProblem) in
      try ServerAddress(connection.settings.baseURL)
    }
    self.control = control
    self.pin = pin ?? SessionPin()
  }

  /// Makes an exchange for a program's own requests.
  init(_ connection: RestConnection) throws(ParseProblem) {
    self.connection = connection
    server = try ServerAddress(connection.settings.baseURL)
    control = nil
    pin = nil
  }

  /// - Throws: ``SyncError`` `.invalidTarget` unless the name is a connection to a Parse server.
  static func check(_ name: String, _ connections: RestConnections?) throws(SyncError) {
    try connections.check(name, label: ParseTarget.label)
    guard let kind = connections?.settings(of: name)?.kind, kind != .parse else { return }
    throw SyncError(
      .invalidTarget,
      "\(ParseTarget.label): connection '\(name)' does not lead to a Parse server; give it \"kind\": \"parse\""
    ).at(.key("connection"))
  }

  /// Sends a request, with retries.
  ///
  /// - Throws: `RestError`; `CancellationError` if the run was stopped, or if the user has changed
  ///   since it began.
  func send(_ request: RestRequest, as kind: RequestKind) async throws -> ConnectionResponse {
    var attempt = 1
    while true {
      if let control { try control.check() } else { try Task.checkCancellation() }
      try intent.check(request, to: connection.name)
      do {
        var options = ConnectionOptions(cache: .bypass)
        // The soup holds the records.
        options.usesResponseCache = false
        try pin?.check(try await connection.userSession(), connection.name)
        return try await connection.send(request, options)
      } catch {
        // The connection already retries by status, but not the error codes that come with 400.
        guard error.code == .httpStatus, error.status == 400, request.isRepeatable, let refusal = ServerRefusal(error),
          case .retry(let attempts) = refusal.action(for: kind),
          let seconds = BackOff.seconds(afterAttempt: attempt, of: attempts, random: connection.random(), asked: nil)
        else { throw error }
        try await connection.wait(seconds: seconds)
        attempt += 1
      }
    }
  }

  /// Sends a query. The error of a refused query says what to do, and never that the class is
  /// empty.
  func query(_ query: ParseQuery) async throws -> ConnectionResponse {
    do {
      return try await send(query.request(on: server), as: .query)
    } catch let error as RestError {
      throw failure(error, of: query.className)
    }
  }

  /// Returns the error with a message that says what to do.
  private func failure(_ error: RestError, of className: String) -> RestError {
    guard error.code == .httpStatus, let refusal = ServerRefusal(error) else { return error }
    switch refusal.action(for: .query) {
    case .noPermission:
      return error.recoded(
        .httpStatus,
        "class '\(className)' cannot be read with these keys and this session: \(refusal.message); no local records are removed")
    case .pause:
      return error.recoded(.quotaExhausted, "the server's request limit is used up: \(refusal.message)")
    case .signIn:
      return error.recoded(.notAuthenticated, "the server requires a session: \(refusal.message)")
    default: return error
    }
  }

  /// Returns the objects of a page as JSON values.
  func objects(_ query: ParseQuery) async throws -> [JSONObject] {
    let response = try await self.query(query)
    guard let list = (try response.response.json())["results"]?.arrayValue else {
      throw response.response.invalidBody("the response has no 'results'")
    }
    return try list.map { element in
      guard let object = element.objectValue else { throw response.response.invalidBody("'results' has a \(element.kindName)") }
      return object
    }
  }
}

extension ParseExchange {
  /// Returns the objects with these ids, by id. Missing objects are deleted or hidden, or fail the
  /// condition.
  ///
  /// A server may silently lower the limit, so missing ids are requested again until none of them
  /// is found.
  func objects(
    _ ids: [String], in className: String, keys: [String]?, chunk: Int, _ condition: ParseCondition = .always
  ) async throws -> IdMap<JSONObject> {
    var found: IdMap<JSONObject> = [:]
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
  /// Nil if the error is not a response of the server.
  init?(_ error: RestError) {
    guard let status = error.status else { return nil }
    self.init(status: status, body: Array((error.body ?? "").utf8))
    followsLostAttempt = error.followsLostAttempt
  }
}
