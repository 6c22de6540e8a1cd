import JSON
import TestSupport
import Tureen

@testable import LuaBridge

/// Every action of the bridge with arguments that no script should send, on real stores and a server.
///
/// An input has a call in each line: `["service", "action", {arguments}]`; a string in place of the arguments is their text, which
/// need not be JSON.
struct ActionTarget: FuzzTarget {
  let name = "actions"
  let usualRounds = 100
  let sessionRounds = 300
  let remembers = true
  let dictionary = FuzzValues.names + FuzzValues.words
  /// The lines of an input, at most.
  private static let mostLines = 4

  /// Actions after which little works.
  private static let final: Set = ["logout", "logoutCurrentUser", "stop"]

  func generated(_ random: inout SeededGenerator) -> [UInt8]? {
    var values = FuzzValues(random: random)
    defer { random = values.random }
    let calls: [[UInt8]] = (0...values.random.below(2)).map { _ in
      let (service, action, rules) = call(&values)
      return JSONValue.array([.string(service), .string(action), .object(values.arguments(rules))]).serialized()
    }
    return CallLines.joined(calls)
  }

  private func call(_ values: inout FuzzValues) -> (service: String, action: String, rules: ArgumentRules) {
    let found = values.pick(FuzzValues.actions)
    return Self.final.contains(found.action) && !values.chance(20) ? call(&values) : found
  }

  func changed(_ input: [UInt8], by mutator: inout FuzzMutator, of pool: FuzzPool) -> [UInt8] {
    CallLines.changed(input, by: &mutator, of: pool, mostLines: Self.mostLines) { value, mutator in
      guard var parts = value.arrayValue, parts.count == 3 else { return value }
      if mutator.random.chance(30) {
        // Text that is nearly JSON.
        parts[2] = .string(String(decoding: mutator.changed(parts[2].serialized(), of: pool), as: UTF8.self))
      } else if mutator.random.chance(60) {
        parts[1] = mutator.changed(parts[1])
      } else {
        parts[2] = mutator.changed(parts[2])
      }
      return .array(parts)
    }
  }

  func open() throws -> any FuzzSession { try Session() }

  private final class Session: FuzzSession, @unchecked Sendable {  // one thread at a time
    private let folder: TemporaryFolder
    private let server: ScriptedServer
    private let bridge: Bridge
    private let driver: BridgeDriver

    init() throws {
      folder = try TemporaryFolder()
      server = try ScriptedServer(handler: { FuzzServer.answer($0) })
      bridge = try Bridge(host: FuzzServer.host(in: folder, server) { _ in })
      driver = BridgeDriver(bridge)
    }

    func run(_ input: [UInt8]) throws -> FuzzOutcome {
      var signal = "", isAccepted = false
      for line in CallLines.lines(input) {
        guard let parts = (try? JSONValue(parsing: line))?.arrayValue, parts.count == 3, let service = parts[0].stringValue,
          let action = parts[1].stringValue, let arguments = Self.arguments(of: action, parts[2])
        else { continue }
        let store = StoreReference(of: arguments.objectValue ?? [:])
        let text = arguments.stringValue.map { Array($0.utf8) } ?? arguments.serialized()
        switch try driver.perform(service, action, store: store, text: text) {
        case .result(let value):
          isAccepted = true
          signal = "\(action) \(FuzzSignal.shape(value))"
          if action == AccountsAction.startLogin.rawValue { try cancelLogin(value["id"] ?? .null) }
        case .error(let domain, let code, let message): signal = "\(action) \(domain) \(code) \(FuzzSignal.shape(message))"
        }
      }
      return FuzzOutcome(isAccepted: isAccepted, signal: signal)
    }

    /// Returns what a call is made with; nil if it is not made.
    private static func arguments(of action: String, _ given: JSONValue) -> JSONValue? {
      switch action {
      case NetworkAction.sendRequest.rawValue:
        // An open request may reach real hosts; RequestTarget makes them.
        return given["path"]?.stringValue.map { ["path": .string("/" + $0)] }
      case AccountsAction.startLogin.rawValue:
        // The port belongs to other tests.
        guard var arguments = given.objectValue else { return nil }
        arguments["listen"] = nil
        return .object(arguments)
      case HostAction.doctor.rawValue:
        // It asks real hosts otherwise.
        guard var arguments = given.objectValue else { return nil }
        arguments["offline"] = true
        return .object(arguments)
      default: return given
      }
    }

    /// A sign-in stays open until a person has signed in.
    private func cancelLogin(_ id: JSONValue) throws {
      let arguments: JSONObject = ["id": id]
      let action = AccountsAction.cancelLogin.rawValue
      let ending = try driver.perform("tureen.accounts", action, store: StoreReference(), text: arguments.serialized())
      guard case .result = ending else { throw FuzzFailure(message: "a sign-in cannot be cancelled: \(ending)") }
    }

    func close() async {
      bridge.close()
      server.stop()
    }
  }
}

/// The server and the host behind fuzzed calls.
enum FuzzServer {
  static let token = "token-0123456789"

  static func host(in folder: TemporaryFolder, _ server: ScriptedServer, _ change: (inout HostSettings) -> Void) -> Host {
    var settings = HostSettings()
    settings.home = folder.path + "/home"
    settings.org = "sandbox"
    settings.embeddedSandbox = { _ in .clientCredentials(loginURL: server.url, clientId: "app", clientSecret: "s") }
    change(&settings)
    return Host(settings: settings)
  }

  /// The answer depends only on the request, so that an input can be repeated.
  static func answer(_ request: RecordedRequest) -> ScriptedAnswer {
    guard request.path != "/services/oauth2/token" else {
      let url = "http://" + (request.header("Host") ?? "")
      return .json(#"{"access_token": "\#(token)", "instance_url": "\#(url)", "id": "\#(url)/id/00D/005"}"#)
    }
    if let mark = request.target.range(of: "to=") {
      let location = String(request.target[mark.upperBound...])
      return .status([301, 302, 303, 307, 308][request.target.utf8.count % 5], headers: [("Location", location)])
    }
    var values = FuzzValues(random: SeededGenerator(state: UInt64(request.target.utf8.count)))
    let status = values.pick([200, 200, 200, 201, 204, 300, 304, 400, 404])
    // The client would read a body that HTTP does not allow here as the next response.
    guard request.method != "HEAD", ![204, 304].contains(status) else { return ScriptedAnswer(status: status) }
    let body = values.pick([values.value(depth: 3).serialized(), Array("<html>".utf8), [], Array(values.text().utf8)])
    return ScriptedAnswer(
      status: status, headers: [("Content-Type", values.pick(["application/json", "text/html", ""]))], body: body)
  }
}
