import JSON
import Support

/// A call of a handler that a test or program registered. Valid until the handler returns, on one
/// thread at a time: while another thread uses it, the handler's own thread must wait.
public struct ApexCall {
  public let method: String
  /// As sent, from `/services/apexrest/` on, without the query.
  public let path: String
  /// The values of the path's placeholders.
  public let parameters: [String: String]
  /// If a name occurs twice, the last value is used.
  public let queryParameters: [String: String]
  /// By name in lower case, without headers that hold secrets.
  public let headers: [String: String]
  public let body: [UInt8]
  /// The id of the signed-in user.
  public let userId: String
  private let org: Org
  private let found = FoundRows()

  /// Counts the rows that the queries of one request have found. Used by one thread at a time, as the call is.
  private final class FoundRows {
    var count = 0
  }

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

  /// - Throws: ``SandboxError`` `JSON_PARSER_ERROR` if the body is not JSON.
  public func json() throws -> JSONValue {
    do {
      return try JSONValue(parsing: body)
    } catch {
      throw SandboxError.json(error.message)
    }
  }

  // MARK: Records, as the signed-in user. A failed operation changes nothing, so a handler may
  // continue.

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

  /// Returns every row that a statement matches, in one page.
  ///
  /// - Returns: `{"totalSize","done","records"}`.
  /// - Throws: ``SandboxError`` `APEX_ERROR` beyond the 50,000 rows that the queries of one request may find.
  public func query(_ soql: String) throws -> JSONValue {
    let left = Tuning.apexQueryRows - found.count
    let runner = QueryRunner(org: org, version: "v66.0", userId: userId, pageSize: left + 1)
    let result = try JSONValue(parsing: try runner.run(soql, includeDeleted: false))
    let rows = result["records"]?.arrayValue?.count ?? 0
    guard rows <= left else {
      let message = "System.LimitException: Too many query rows: \(Tuning.apexQueryRows + 1)"
      throw SandboxError(status: 500, code: "APEX_ERROR", message: message)
    }
    found.count += rows
    return result
  }

  /// Returns the records of a statement; for `SELECT COUNT()` their number.
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

/// The response of a registered handler.
public struct ApexAnswer: Sendable {
  public var status: Int
  /// nil sends no body.
  public var body: JSONValue?
  /// Replaces `body` with raw bytes; `headers` should declare their type.
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

  /// Why the response cannot be sent; nil if it can.
  public var problem: String? {
    guard (200...599).contains(status) else { return "the status \(status) is not from 200 to 599" }
    if [204, 205, 304].contains(status), body != nil || bytes != nil {
      return "a response with status \(status) cannot have a body"
    }
    for (name, value) in headers {
      guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else {
        return "'\(name)' is not a valid header name"
      }
      guard !Self.reserved.contains(name.lowercased()) else { return "the server sets the header '\(name)' itself" }
      guard value.utf8.allSatisfy({ $0 == UInt8(ascii: "\t") || ($0 >= 0x20 && $0 != 0x7F) }) else {
        return "the header '\(name)' contains a line break or another control character"
      }
    }
    return nil
  }

  /// Headers that control the framing of the response or its connection.
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

/// The handlers that tests and programs registered. On the org's queue.
struct ApexHandlers {
  typealias Handler = @Sendable (ApexCall) throws -> ApexAnswer

  private var routes = RouteTable<Handler>()

  /// - Throws: ``SandboxError`` if the org's built-in class serves the path.
  mutating func add(_ method: String, _ path: String, _ handler: @escaping Handler) throws(SandboxError) {
    guard path.split(separator: "/").first?.lowercased() != ApexRestRoutes.className.lowercased() else {
      throw SandboxError(
        status: 0, code: "PATH_TAKEN",
        message: "the org's built-in class serves /\(ApexRestRoutes.className); choose another path")
    }
    routes.add(method.uppercased(), "/services/apexrest/" + path, handler)
  }

  private struct Unanswerable: Error, CustomStringConvertible { let description: String }

  /// Runs a handler. Its changes are rolled back if it throws or returns an invalid response.
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
  /// Registers a handler for `/services/apexrest/` and a path. If two match a request, the one
  /// registered first answers.
  ///
  /// The handler runs in a transaction on the org's queue: it accesses records through its
  /// ``ApexCall`` and must not call the server. A ``SandboxError`` that it throws becomes the
  /// response; any other error becomes an `APEX_ERROR` with status 500.
  /// - Parameter path: A path such as `visits/:name`; a segment with a colon matches any text.
  /// - Throws: ``SandboxError`` `PATH_TAKEN` for a path of the org's built-in class.
  public func setApexRest(
    _ method: String, _ path: String, _ handler: @escaping @Sendable (ApexCall) throws -> ApexAnswer
  ) throws {
    try org.performAndWait { try $0.apex.add(method, path, handler) }
  }
}
