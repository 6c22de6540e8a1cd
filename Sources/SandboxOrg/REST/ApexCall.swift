import JSON

/// A call of code that a test gave the org. To be used until the handler returns, and on its thread only.
public struct ApexCall {
  public let method: String
  /// What the placeholders of the path stand for.
  public let parameters: [String: String]
  /// The last value counts where a name comes twice.
  public let queryParameters: [String: String]
  public let body: [UInt8]
  /// Id of the signed-in user.
  public let userId: String
  private let org: Org

  init(_ request: ServerRequest, _ method: String, _ parameters: [String: String], _ org: Org, _ userId: String) {
    self.method = method
    self.parameters = parameters
    queryParameters = Dictionary(request.query.map { ($0.name, $0.value) }) { $1 }
    body = request.body
    self.userId = userId
    self.org = org
  }

  /// - Throws: ``SandboxError`` `JSON_PARSER_ERROR` for a body that is no JSON.
  public func json() throws -> JSONValue {
    do {
      return try JSONValue(parsing: body)
    } catch {
      throw SandboxError.json(error.message)
    }
  }

  // MARK: Records, as the signed-in user

  /// - Returns: The new record's id.
  @discardableResult
  public func create(_ type: String, fields: JSONObject) throws -> String {
    try writer.create(try object(type), fields)
  }

  public func update(_ type: String, id: String, fields: JSONObject) throws {
    try writer.update(try object(type), id: try live(id, type), fields)
  }

  public func delete(_ type: String, id: String) throws { try writer.delete(try object(type), id: try live(id, type)) }

  /// Every row a statement matches, in one page.
  /// - Returns: `{"totalSize","done","records"}`.
  public func query(_ soql: String) throws -> JSONValue {
    let runner = QueryRunner(org: org, version: "v66.0", userId: userId, pageSize: .max / 2)
    return try JSONValue(parsing: try runner.run(soql, includeDeleted: false))
  }

  private var writer: RecordWriter { RecordWriter(org: org, userId: userId) }

  private func object(_ type: String) throws(SandboxError) -> ObjectSchema {
    guard let object = org.schema.object(type) else { throw .unknownType(type) }
    return object
  }

  private func live(_ id: String, _ type: String) throws -> String {
    guard let full = RecordID.normalized(id) else { throw SandboxError.notFound() }
    try CollectionRoutes.requireLive(full, try object(type), writer.reader)
    return full
  }
}

/// What such code answers.
public struct ApexAnswer: Sendable {
  public var status: Int
  /// nil sends no body.
  public var body: JSONValue?

  public init(status: Int = 200, body: JSONValue?) {
    self.status = status
    self.body = body
  }
}

/// The code that tests gave an org. On the org's queue.
struct ApexHandlers {
  typealias Handler = @Sendable (ApexCall) throws -> ApexAnswer

  private var routes = RouteTable<Handler>()

  mutating func add(_ method: String, _ path: String, _ handler: @escaping Handler) {
    routes.add(method.uppercased(), "/services/apexrest/" + path, handler)
  }

  /// All a handler wrote is taken back when it throws.
  func answer(_ request: ServerRequest, _ method: String, _ org: Org, _ userId: String) throws -> ServerReply {
    switch routes.outcome(method, request.segments) {
    case .none: throw SandboxError.notFound("Could not find a match for URL")
    case .wrongMethod(let allowed): return SalesforceService.wrongMethod(method, allowed)
    case .found(let match):
      let call = ApexCall(request, method, match.parameters, org, userId)
      do {
        let answer = try org.transaction { try match.handler(call) }
        return answer.body.map { .json(answer.status, $0) } ?? .empty(answer.status)
      } catch let error as SandboxError {
        throw error
      } catch {
        throw SandboxError(status: 500, code: "APEX_ERROR", message: "System.Exception: \(error)")
      }
    }
  }
}

extension SandboxServer {
  /// Gives the org code of its own that answers `/services/apexrest/` and a path. Of two that fit a request the one given
  /// first answers.
  ///
  /// The handler runs in a transaction on the org's queue: it works with records through its ``ApexCall`` and must not call
  /// the server. A ``SandboxError`` it throws is the answer; anything else becomes an `APEX_ERROR` with status 500.
  /// - Parameter path: Such as `visits/:name`; a segment with a colon takes any text.
  public func setApexRest(
    _ method: String, _ path: String, _ handler: @escaping @Sendable (ApexCall) throws -> ApexAnswer
  ) throws {
    try org.performAndWait { $0.apex.add(method, path, handler) }
  }
}
