import JSON
import Support

/// A call of code that a test or a program gave the org. To be used until the handler returns, by one thread at a time; the
/// handler's own has to wait while another one uses it.
public struct ApexCall {
  public let method: String
  /// As sent, from `/services/apexrest/` on, without the query.
  public let path: String
  /// What the placeholders of the path stand for.
  public let parameters: [String: String]
  /// The last value counts where a name comes twice.
  public let queryParameters: [String: String]
  /// By lower-case names, without those that hold secrets.
  public let headers: [String: String]
  public let body: [UInt8]
  /// Id of the signed-in user.
  public let userId: String
  private let org: Org

  init(_ request: ServerRequest, _ method: String, _ parameters: [String: String], _ org: Org, _ userId: String) {
    self.method = method
    path = request.path
    self.parameters = parameters
    queryParameters = Dictionary(request.query.map { ($0.name, $0.value) }) { $1 }
    headers = request.headers.filter { !["authorization", "cookie", "proxy-authorization"].contains($0.key) }
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

  // MARK: Records, as the signed-in user. One that fails leaves the records as they were, so that a handler may go on.

  /// - Returns: The new record's id.
  @discardableResult
  public func create(_ type: String, fields: JSONObject) throws -> String {
    try org.transaction { try writer.create(try object(type), fields) }
  }

  public func update(_ type: String, id: String, fields: JSONObject) throws {
    try org.transaction { try writer.update(try object(type), id: try live(id, type), fields) }
  }

  public func delete(_ type: String, id: String) throws {
    try org.transaction { try writer.delete(try object(type), id: try live(id, type)) }
  }

  /// Every row a statement matches, in one page.
  /// - Returns: `{"totalSize","done","records"}`.
  public func query(_ soql: String) throws -> JSONValue {
    let runner = QueryRunner(org: org, version: "v66.0", userId: userId, pageSize: .max / 2)
    return try JSONValue(parsing: try runner.run(soql, includeDeleted: false))
  }

  /// The records of a statement; of `SELECT COUNT()`, which has none, how many there are.
  public func records(_ soql: String) throws -> JSONValue { try QueryRunner.found(soql, in: try query(soql)) }

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
  /// In place of `body`, as they are; `headers` then say what they are.
  public var bytes: [UInt8]?
  public var headers: [(name: String, value: String)]

  public init(
    status: Int = 200, body: JSONValue?, bytes: [UInt8]? = nil, headers: [(name: String, value: String)] = []
  ) {
    self.status = status
    self.body = body
    self.bytes = bytes
    self.headers = headers
  }

  /// Why this cannot be sent; nil when it can.
  public var problem: String? {
    guard (200...599).contains(status) else { return "the status \(status) is not from 200 to 599" }
    if [204, 205, 304].contains(status), body != nil || bytes != nil { return "an answer with status \(status) has no body" }
    for (name, value) in headers {
      guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
        return "'\(name)' is not a valid name of a header"
      }
      guard !Self.reserved.contains(name.lowercased()) else { return "the server sets the header '\(name)' itself" }
      guard value.utf8.allSatisfy({ $0 == UInt8(ascii: "\t") || ($0 >= 0x20 && $0 != 0x7F) }) else {
        return "the header '\(name)' holds a line break or another control character"
      }
    }
    return nil
  }

  /// Those that say where an answer ends, and what happens to its connection.
  private static let reserved: Set = [
    "connection", "content-encoding", "content-length", "date", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
  ]

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }

  var reply: ServerReply {
    var reply = ServerReply.empty(status)
    if let bytes {
      reply.body = bytes
    } else if let body {
      reply = .json(status, body)
    }
    let given = Set(headers.map { $0.name.lowercased() })
    reply.headers = reply.headers.filter { !given.contains($0.name.lowercased()) } + headers
    return reply
  }
}

/// The code that tests and programs gave an org. On the org's queue.
struct ApexHandlers {
  typealias Handler = @Sendable (ApexCall) throws -> ApexAnswer

  private var routes = RouteTable<Handler>()

  /// - Throws: ``SandboxError`` for a path that the org's built-in class answers.
  mutating func add(_ method: String, _ path: String, _ handler: @escaping Handler) throws(SandboxError) {
    guard path.split(separator: "/").first?.lowercased() != ApexRestRoutes.className.lowercased() else {
      throw SandboxError(
        status: 0, code: "PATH_TAKEN", message: "the org's own class answers /\(ApexRestRoutes.className); choose another path")
    }
    routes.add(method.uppercased(), "/services/apexrest/" + path, handler)
  }

  private struct Unanswerable: Error, CustomStringConvertible { let description: String }

  /// All a handler wrote is taken back when it throws, or answers what cannot be sent.
  func answer(_ request: ServerRequest, _ method: String, _ org: Org, _ userId: String) throws -> ServerReply {
    switch routes.outcome(method, request.segments) {
    case .none: throw SandboxError.notFound("Could not find a match for URL")
    case .wrongMethod(let allowed): return SalesforceService.wrongMethod(method, allowed)
    case .found(let match):
      let call = ApexCall(request, method, match.parameters, org, userId)
      do {
        return try org.transaction {
          let answer = try match.handler(call)
          if let problem = answer.problem { throw Unanswerable(description: problem) }
          return answer.reply
        }
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
  /// - Throws: ``SandboxError`` `PATH_TAKEN` for a path of the org's own class.
  public func setApexRest(
    _ method: String, _ path: String, _ handler: @escaping @Sendable (ApexCall) throws -> ApexAnswer
  ) throws {
    try org.performAndWait { try $0.apex.add(method, path, handler) }
  }
}
