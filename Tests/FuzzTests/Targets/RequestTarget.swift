import JSON
import TestSupport
import Tureen

@testable import LuaBridge
@testable import RestClient

/// URLs, headers and the other arguments of `sendRequest`. Each call ends once; the server gets at most the one request that was
/// asked for, with headers that somebody gave; and no request leaves the org or the connection.
///
/// An input has the arguments of a call in each line. `@ORG@` and `@FOREIGN@` stand for the addresses of the server and of another
/// one, which must not get anything.
struct RequestTarget: FuzzTarget {
  let name = "requests"
  let usualRounds = 100
  let sessionRounds = 500
  let remembers = true
  let dictionary =
    FuzzValues.headerNames + [
      "http://@FOREIGN@/", "//@FOREIGN@/", "@@FOREIGN@", "http://@ORG@@@FOREIGN@/", "\\\\@FOREIGN@/", "http://@ORG@/",
      "?to=http://@FOREIGN@/x",
      "?to=//@FOREIGN@/", "?to=/y", "?to=https://@FOREIGN@", "/services/data", "/..", "/%2e%2e/", "%0d%0aX-Bad: 1",
      "\r\nX-Bad: 1",
      "\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n", "\n", "\u{85}", "\u{2028}", "ĊX-Bad: 1", " HTTP/1.1", "chunked", "0",
      "close", "GET", "HEAD",
      "Transfer-Encoding", "Content-Length", "Host", "X-Bad", "c", "C",
    ]

  func generated(_ random: inout SeededGenerator) -> [UInt8]? {
    var values = FuzzValues(random: random)
    defer { random = values.random }
    return values.request().serialized()
  }

  func changed(_ input: [UInt8], by mutator: inout FuzzMutator, of pool: FuzzPool) -> [UInt8] {
    CallLines.changed(input, by: &mutator, of: pool, mostLines: 3) { $1.changed($0) }
  }

  func open() throws -> any FuzzSession { try Session() }

  private final class Session: FuzzSession, @unchecked Sendable {  // one thread at a time
    private let folder: TemporaryFolder
    private let server: ScriptedServer, foreign: ScriptedServer
    private let bridges: [Bridge]
    private let drivers: [BridgeDriver]
    /// The requests of earlier inputs.
    private var seen = 0

    init() throws {
      let folder = try TemporaryFolder(), server = try ScriptedServer(handler: { FuzzServer.answer($0) })
      foreign = try ScriptedServer(handler: { _ in .json("{}") })
      let connection = try JSONValue(
        parsing: """
          {"c": {"baseURL": "\(server.url)/api", "auth": {"type": "bearer", "token": "secret-0123456789"}, "headers": {"X-Own": "1"}}}
          """)
      let connections = try ConnectionSettings.read(
        connection.objectValue ?? [:], from: ConnectionSettings.Origin(folder: folder.path, allowsPlainSecrets: true))
      bridges = try [true, false].map { isRestricted in
        try Bridge(
          host: FuzzServer.host(in: folder, server) {
            $0.home = folder.path + "/\(isRestricted)"
            $0.isRestricted = isRestricted
            $0.connections = connections
          })
      }
      drivers = bridges.map(BridgeDriver.init)
      self.folder = folder
      self.server = server
    }

    func run(_ input: [UInt8]) throws -> FuzzOutcome {
      var outcome = FuzzOutcome.refused("no call")
      for line in CallLines.lines(input) {
        let text = String(decoding: line, as: UTF8.self)
          .replacing("@ORG@", with: "127.0.0.1:\(server.port)").replacing("@FOREIGN@", with: "127.0.0.1:\(foreign.port)")
        guard let arguments = (try? JSONValue(parsing: text))?.objectValue else { continue }
        for (number, driver) in drivers.enumerated() where number == 0 || !leavesOrg(arguments) {
          outcome = try call(arguments, on: driver)
        }
      }
      return outcome
    }

    /// A script that is not restricted may reach any host with an open request. That must not happen to real ones.
    private func leavesOrg(_ arguments: JSONObject) -> Bool {
      let path = (arguments["endPoint"]?.stringValue ?? "") + (arguments["path"]?.stringValue ?? "")
      return arguments["doesNotRequireAuthentication"] == true && arguments["connection"]?.stringValue == nil
        && !path.hasPrefix("/")
    }

    private func call(_ arguments: JSONObject, on driver: BridgeDriver) throws -> FuzzOutcome {
      let store = StoreReference(of: arguments)
      let ending = try driver.perform("com.salesforce.network", "pgSendRequest", store: store, text: arguments.serialized())
      let requests = server.requests.dropFirst(seen).filter { !$0.path.hasPrefix("/services/oauth2/") }
      seen = server.requests.count
      try RequestRules(arguments, server).check(Array(requests))
      if let request = foreign.requests.first {
        throw FuzzFailure(message: "another server got \(request.method) \(request.target) with \(request.headers.map(\.name))")
      }
      switch ending {
      case .result(let value):
        return .accepted(
          "\(requests.count) \(requests.first?.method ?? "") \(FuzzSignal.shape(value)) \(requests.first?.headers.count ?? 0)")
      case .error(let domain, let code, let message): return .refused("\(requests.count) \(domain) \(code) \(message)")
      }
    }

    func close() async {
      for bridge in bridges { bridge.close() }
      server.stop()
      foreign.stop()
    }
  }
}

/// What a server may get of a call.
private struct RequestRules {
  private let arguments: JSONObject
  private let isOfConnection: Bool
  private let given: [(name: String, value: String)]
  private let server: ScriptedServer

  /// Headers that the client sets itself.
  private static let own: Set = [
    "host", "user-agent", "accept", "accept-encoding", "authorization", "content-type", "content-length", "transfer-encoding",
    "connection",
    "x-own", "if-none-match", "if-modified-since", "cache-control",
  ]

  init(_ arguments: JSONObject, _ server: ScriptedServer) {
    self.arguments = arguments
    self.server = server
    isOfConnection = arguments["connection"]?.stringValue != nil
    given = (arguments["headerParams"]?.objectValue ?? [:]).map { ($0.key.lowercased(), $0.value.stringValue ?? $0.value.text) }
  }

  /// - Throws: ``FuzzFailure``.
  func check(_ requests: [RecordedRequest]) throws(FuzzFailure) {
    // A connection follows redirects.
    let most = isOfConnection ? 1 + Redirect.mostHops : 1
    try FuzzFailure.unless(requests.count <= most, "\(requests.count) requests for one call: \(requests.map(\.target))")
    for (number, request) in requests.enumerated() { try check(request, isFirst: number == 0) }
  }

  private func check(_ request: RecordedRequest, isFirst: Bool) throws(FuzzFailure) {
    let shown = "\(request.method) \(request.target.prefix(300))"
    let method = arguments["method"]?.stringValue ?? "", expected = method.isEmpty ? "GET" : method.uppercased()
    try FuzzFailure.unless(
      request.method == expected || !isFirst && request.method == "GET", "a request with another method: \(shown)")
    try FuzzFailure.unless(
      request.target.hasPrefix("/") && request.target.utf8.allSatisfy { (0x21...0x7e).contains($0) },
      "a malformed target: \(shown)")
    for header in request.headers {
      let name = header.name.lowercased()
      let values = given.filter { $0.name == name }.map(\.value)
      try FuzzFailure.unless(
        Self.own.contains(name) || !values.isEmpty, "the header '\(header.name)', which nobody gave: \(shown)")
      // The client decides about its own headers; others arrive as they were given.
      guard !Self.own.contains(name), isFirst else { continue }
      let isGiven = values.contains { trimmed($0).hasSameBytes(as: trimmed(header.value)) }
      try FuzzFailure.unless(isGiven, "the header '\(header.name)' with another value: \(shown)")
    }
    let hosts = request.headers.filter { $0.name.lowercased() == "host" }
    try FuzzFailure.unless(hosts.count == 1, "\(hosts.count) Host headers: \(shown)")
  }

  private func trimmed(_ text: String) -> String {
    let bytes = Array(text.utf8), isBlank: (UInt8) -> Bool = { $0 == 32 || $0 == 9 }
    let start = bytes.firstIndex { !isBlank($0) } ?? bytes.count, end = (bytes.lastIndex { !isBlank($0) } ?? -1) + 1
    return start < end ? String(decoding: bytes[start..<end], as: UTF8.self) : ""
  }
}
