import JSON
import Synchronization

/// The control interface over HTTP: `POST /__sandbox/<action>` with a token of its own; loopback only.
///
/// Its requests are neither logged nor counted, and get no faults.
final class ControlFront: Sendable {
  typealias Handler = @Sendable (_ action: String, _ arguments: JSONObject) throws -> JSONValue?

  static let prefix = "/__sandbox/"
  /// Guards the interface against other users of the computer.
  let token: String
  private let served = Mutex<(actions: [String], handler: Handler)?>(nil)

  init(token: String?) { self.token = token ?? RandomText.make(40) }

  /// What answers; set once, when the server is there.
  func serve(_ actions: [String], _ handler: @escaping Handler) { served.withLock { $0 = (actions, handler) } }

  static func isMeant(_ request: ServerRequest) -> Bool { request.path.hasPrefix(prefix) }

  /// - Parameter address: The client's; others than this machine's are refused.
  func reply(to request: ServerRequest, from address: String?) async -> ServerReply {
    let isLocal = address.map { $0.hasPrefix("127.") || $0 == "::1" } ?? false
    do throws(SandboxError) {
      guard isLocal, let sent = request.sessionToken, Self.areEqual(sent, token) else {
        throw SandboxError(status: 401, code: "INVALID_CONTROL_TOKEN", message: "the control token is missing or wrong")
      }
      guard request.method == "POST" || request.method == "GET" else {
        throw SandboxError(
          status: 405, code: "METHOD_NOT_ALLOWED", message: "an action is a POST; those without arguments, a GET")
      }
      return .json(200, try await value(of: request))
    } catch {
      return .json(error.status == 0 ? 500 : error.status, error.body)
    }
  }

  private func value(of request: ServerRequest) async throws(SandboxError) -> JSONValue {
    let action = String(request.path.dropFirst(Self.prefix.count))
    let arguments = try Self.arguments(request)
    guard let (actions, handler) = served.withLock({ $0 }) else { throw .notFound() }
    do {
      if let value = try await Offload.run({ try handler(action, arguments) }) { return value }
    } catch let error as SandboxError {
      throw error
    } catch {
      throw .unknown("\(error)")
    }
    throw .notFound("no action '\(action)'; there are \(actions.joined(separator: ", "))")
  }

  private static func arguments(_ request: ServerRequest) throws(SandboxError) -> JSONObject {
    guard !request.body.isEmpty else { return [:] }
    do {
      if let object = try JSONValue(parsing: request.body).objectValue { return object }
    } catch {
      throw .json("the body is not JSON: \(error.message)")
    }
    throw .json("the body must be an object")
  }

  /// Takes the same time wherever the texts differ.
  private static func areEqual(_ a: String, _ b: String) -> Bool {
    let a = Array(a.utf8), b = Array(b.utf8)
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
