import JSON
import RestClient
import Synchronization

@testable import RestClient
@testable import Salesforce
@testable import SandboxOrg

/// A sandbox org that is called without a socket: much faster where the wire does not matter. Its
/// clock is manual.
final class DirectOrg: Sendable {
  let clock = ManualSandboxClock()
  private let org: Org
  private let service: SalesforceService
  private let token: String

  static let address = "http://127.0.0.1:1"

  /// - Parameter pageSize: Records per page.
  init(pageSize: Int) throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.pageSize = pageSize
    configuration.clock = clock
    // All scenarios of one org move the clock far.
    configuration.accessTokenLifetime = .max / 4
    org = try Org(configuration)
    service = SalesforceService(org: org)
    token = try org.performAndWait { org in
      let grant = SessionRegistry.Grant(user: Users.caller, client: org.configuration.clientId, scope: "api web")
      return try org.sessions.issueAccessToken(grant, organization: org.organizationId)
    }
  }

  func close() { org.close() }

  /// Removes all records, as if there had never been any.
  func clear() throws {
    try org.performAndWait { org in
      org.lateCommits.removeAll()
      org.cursors.removeAll()
      try org.connection.execute("DELETE FROM \(Self.account(org).table)")
    }
  }

  /// Returns the answer to a request, with faults of the org itself.
  func reply(to request: RestRequest, faults: [(kind: String, parameters: JSONObject)]) async throws -> ServerReply {
    let url = try WebAddress.url(path: request.path, query: request.query, base: Self.address)
    let parts = url.dropFirst(url.hasPrefix(Self.address) ? Self.address.count : 0)
      .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let path = parts.first.map(String.init) ?? "/"
    var headers = ["authorization": "Bearer " + token, "content-type": request.contentType, "host": "127.0.0.1"]
    for (name, value) in request.headers { headers[name.lowercased()] = value }
    var asked = ServerRequest(
      method: request.method.rawValue, path: path, segments: URLCoding.segments(path),
      query: parts.count > 1 ? URLCoding.fields(parts[1]) : [], headers: headers, body: request.body ?? [])
    let plain = asked
    asked.faults = faults.map {
      FaultDraw(kind: $0.kind, parameters: $0.parameters, request: plain, now: clock.now(), seed: 7)
    }
    var reply = try await service.reply(to: asked).gathered()
    reply.headers.append(("Date", HTTPDate.text(clock.now())))
    return reply
  }

  // MARK: Changes by other users

  private static func account(_ org: Org) throws(SandboxError) -> ObjectSchema { try org.object("Account") }

  @discardableResult
  func create(_ fields: JSONObject) throws -> String { try org.performAndWait { try Self.create(fields, $0) } }

  private static func create(_ fields: JSONObject, _ org: Org) throws -> String {
    try org.transaction { try RecordWriter(org: org, userId: Users.colleague).create(try account(org), fields) }
  }

  func update(_ id: String, _ fields: JSONObject) throws { try org.performAndWait { try Self.update(id, fields, $0) } }

  private static func update(_ id: String, _ fields: JSONObject, _ org: Org) throws {
    try org.transaction {
      let writer = RecordWriter(org: org, userId: Users.colleague)
      try writer.update(try account(org), id: try SandboxServer.live(id, try account(org), writer), fields)
    }
  }

  func delete(_ id: String) throws {
    try org.performAndWait { org in
      try org.transaction {
        let writer = RecordWriter(org: org, userId: Users.colleague), account = try Self.account(org)
        try writer.delete(account, id: try SandboxServer.live(id, account, writer))
      }
    }
  }

  /// Makes a change in a transaction that is committed later, with stamps of now; `done` is called
  /// after the commit.
  /// - Parameter id: nil creates a record.
  func changeLate(_ id: String?, _ fields: JSONObject, seconds: Int, done: @escaping @Sendable () -> Void) throws {
    try org.performAndWait { org in
      org.scheduleCommit(after: .seconds(seconds)) { org in
        do {
          if let id { try Self.update(id, fields, org) } else { _ = try Self.create(fields, org) }
          done()
        } catch {
          // The record was deleted meanwhile.
        }
      }
    }
  }

  // MARK: Reading

  /// Returns every live record.
  func records(_ fields: [String]) throws -> [JSONObject] {
    let soql = "SELECT Id, \(fields.joined(separator: ", ")) FROM Account ORDER BY Name, Id"
    let bytes = try org.performAndWait { org in
      org.commitDue(isRequest: false)
      let runner = QueryRunner(org: org, version: "v66.0", userId: Users.colleague, pageSize: .max / 2)
      return try runner.run(soql, includeDeleted: false)
    }
    return try JSONValue(parsing: bytes)["records"]?.arrayValue?.compactMap(\.objectValue) ?? []
  }
}

/// A fault of one request of a ``DirectClient``.
enum DirectFault: Sendable, Hashable, CustomStringConvertible {
  /// The server never gets the request.
  case notSent
  /// The server acts, but the answer is lost.
  case lost
  /// A create is committed some seconds later, and the answer is lost.
  case late(seconds: Int)
  case unavailable
  case locked
  case failItems
  case forgetQueries

  var description: String {
    switch self {
    case .notSent: "never reaches the server"
    case .lost: "is done, and its answer lost"
    case .late(let seconds): "creates \(seconds) s later, and its answer is lost"
    case .unavailable: "is answered 503"
    case .locked: "finds its rows locked"
    case .failItems: "has half of its records refused"
    case .forgetQueries: "comes after the server forgot all queries"
    }
  }

  /// Returns the faults that the org itself produces.
  fileprivate func draws(_ request: RestRequest) -> [(kind: String, parameters: JSONObject)] {
    switch self {
    case .locked: [("lockRows", ["share": 1])]
    case .failItems: [("failItems", ["share": 0.5, "code": "UNKNOWN_EXCEPTION", "message": "refused on purpose"])]
    case .forgetQueries: [("expireLocator", [:])]
    // Only for requests that do nothing but create: otherwise an older update would become the
    // newer one.
    case .late(let seconds) where request.createsOnly: [("lateCommit", ["seconds": .integer(Int64(seconds)), "answer": "lost"])]
    case .notSent, .lost, .unavailable, .late: []
    }
  }
}

extension RestRequest {
  fileprivate var createsOnly: Bool {
    let path = pathWithoutQuery
    guard method == .POST, path.contains("/sobjects/") || path.hasSuffix("/composite/sobjects") || path.hasSuffix("/composite")
    else { return false }
    // A request with ids is a look-up.
    let text = String(decoding: body ?? [], as: UTF8.self)
    return !text.contains("\"PATCH\"") && !text.contains("\"DELETE\"") && !text.contains("\"ids\"")
  }
}

/// Sends to a ``DirectOrg``, and runs actions before a request and before its answer.
final class DirectClient: RestClient {
  /// The actions around the requests of one run.
  struct Plan: Sendable {
    typealias Action = @Sendable () async -> Void
    var faults: [Int: DirectFault] = [:]
    var before: [Int: [Action]] = [:]
    var after: [Int: [Action]] = [:]
  }

  let apiVersion = "v66.0"
  private let org: DirectOrg
  private let state = Mutex((plan: Plan(), count: 0, log: [String]()))

  init(_ org: DirectOrg) { self.org = org }

  /// Sets the plan for the requests from now on, counted from 1.
  func follow(_ plan: Plan) { state.withLock { $0 = (plan, 0, []) } }

  /// The requests sent since then.
  var log: [String] { state.withLock { $0.log } }

  func send(_ request: RestRequest) async throws -> RestResponse {
    let (number, plan) = state.withLock { state in
      state.count += 1
      state.log.append("\(request.method.rawValue) \(request.pathWithoutQuery)")
      return (state.count, state.plan)
    }
    for action in plan.before[number] ?? [] { await action() }
    let result = await exchange(request, plan.faults[number])
    for action in plan.after[number] ?? [] { await action() }
    return try result.get()
  }

  func shutdown() async {}

  private func exchange(_ request: RestRequest, _ fault: DirectFault?) async -> Result<RestResponse, any Error> {
    do {
      if fault == .notSent { throw RestError(code: .noResponse, message: "the connection was refused", outcome: .notSent) }
      if fault == .unavailable {
        throw RestError(code: .httpStatus, message: "busy", status: 503, body: "busy", outcome: .unknown)
      }
      let reply = try await org.reply(to: request, faults: fault?.draws(request) ?? [])
      switch fault {
      case .lost, .late: throw RestError(code: .noResponse, message: "the answer was lost", outcome: .unknown)
      default: break
      }
      let response = RestResponse(status: reply.status, headers: reply.headers, body: ResponseBody(reply.body))
      guard (200..<300).contains(reply.status) || reply.status == 300 || reply.status == 304 else {
        throw RestError(refusal: response)
      }
      return .success(response)
    } catch {
      return .failure(error)
    }
  }
}
