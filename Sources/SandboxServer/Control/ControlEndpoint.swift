import JSON
import Synchronization

/// Serves the control interface over HTTP: `POST /__sandbox/<action>` with its own bearer token,
/// from loopback only.
///
/// Control requests are not logged or counted, and faults do not apply to them.
final class ControlEndpoint: Sendable {
  typealias Handler = @Sendable (_ action: String, _ arguments: JSONObject) throws -> JSONValue?

  static let prefix = "/__sandbox/"
  /// Keeps other users of the computer out.
  let token: String
  private let served = Mutex<(actions: [String], handler: Handler)?>(nil)

  init(token: String?) { self.token = token ?? RandomText.make(40) }

  /// Installs the handler. Call it once, when the server has started.
  func serve(_ actions: [String], _ handler: @escaping Handler) { served.withLock { $0 = (actions, handler) } }

  static func isControlRequest(_ request: ServerRequest) -> Bool { request.path.hasPrefix(prefix) }

  /// - Parameter address: The client's address. Requests from other machines are refused.
  func reply(to request: ServerRequest, from address: String?) async -> ServerReply {
    let isLocal = address.map { $0.hasPrefix("127.") || $0 == "::1" } ?? false
    do throws(SandboxError) {
      guard isLocal, let sent = request.sessionToken, Self.areEqual(sent, token) else {
        throw SandboxError(status: 401, code: "INVALID_CONTROL_TOKEN", message: "the control token is missing or wrong")
      }
      guard request.method == "POST" || request.method == "GET" else {
        throw SandboxError(
          status: 405, code: "METHOD_NOT_ALLOWED", message: "send an action as POST, or as GET if it takes no arguments")
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
    throw .notFound("no action '\(action)'; the actions are \(actions.joined(separator: ", "))")
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

  /// Compares in constant time for texts of equal length, so that timing does not reveal the token.
  private static func areEqual(_ a: String, _ b: String) -> Bool {
    let a = Array(a.utf8), b = Array(b.utf8)
    guard a.count == b.count else { return false }
    return zip(a, b).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
