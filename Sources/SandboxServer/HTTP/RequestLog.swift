import Glibc
import JSON
import Synchronization

/// A request in the log, with its outcome.
public struct LoggedRequest: Sendable, Equatable {
  /// The request's number on this server, from 1 in order of arrival.
  public let sequence: Int
  public let method: String
  /// As sent, without the query.
  public let path: String
  /// Percent-decoded `name=value` pairs in order; empty for resources that carry secrets.
  public let query: [String]
  /// The first 16 KB of the body; empty for resources that carry secrets.
  public let body: String
  /// The value of the `Host` header.
  public let host: String
  /// Eight hexadecimal digits that stand for the access token; nil without a token.
  public let session: String?
  /// The OAuth grant of a token request, such as `refresh_token`; nil for other requests.
  public let grant: String?
  /// When the request arrived, in seconds since 1970 UTC by the server's clock.
  public let time: Int64
  /// The Id of the signed-in user; nil until the response.
  public internal(set) var user: String?
  /// The status of the response; 0 until the response (in an interceptor) and if the connection was
  /// closed instead.
  public internal(set) var status: Int
  /// Bytes of the response body that were sent.
  public internal(set) var bytes: Int
  /// The time from the arrival of the whole request to the response, by the computer's clock.
  public internal(set) var duration: Duration
  /// Names of the fault kinds that occurred, in the order of their rules.
  public internal(set) var faults: [String]
  /// Milliseconds by which faults delayed the request, each by the clock it names.
  public internal(set) var delay: Int

  /// - Parameter isSecret: Leaves out the query and the body.
  init(_ request: ServerRequest, isSecret: Bool, grant: String?, sequence: Int, time: Int64) {
    self.sequence = sequence
    method = request.method
    path = request.path
    query = isSecret ? [] : request.query.map { "\($0.name)=\($0.value)" }
    body = isSecret ? "" : String(decoding: request.body.prefix(ServerTuning.loggedBodyBytes), as: UTF8.self)
    host = request.header("host") ?? ""
    session = request.sessionMark
    self.grant = grant
    self.time = time
    status = 0
    bytes = 0
    duration = .zero
    faults = []
    delay = 0
  }

  /// Returns the value of a query parameter.
  public func parameter(_ name: String) -> String? {
    query.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
  }

  /// One line such as `GET /services/data 200`, with the faults: `GET /services/data 0
  /// dropBeforeResponse`.
  public var summary: String { (["\(method) \(path) \(status)"] + faults).joined(separator: " ") }

  /// All fields except the body, which may hold secrets.
  public var json: JSONObject {
    let milliseconds = Double(duration.components.seconds) * 1_000 + Double(duration.components.attoseconds) / 1e15
    return [
      "sequence": .integer(Int64(sequence)), "time": .integer(time), "method": .string(method), "path": .string(path),
      "query": .array(query.map { .string($0) }), "host": .string(host), "session": session.map { .string($0) } ?? .null,
      "user": user.map { .string($0) } ?? .null, "grant": grant.map { .string($0) } ?? .null,
      "status": .integer(Int64(status)), "bytes": .integer(Int64(bytes)),
      "milliseconds": .number((milliseconds * 1_000).rounded() / 1_000), "faults": .array(faults.map { .string($0) }),
      "delay": .integer(Int64(delay)),
    ]
  }
}

/// What an interceptor does with a request instead of letting it through.
public enum Interception: Sendable {
  /// Answers without calling the service.
  case respond(status: Int, headers: [(name: String, value: String)] = [], body: String)
  /// Lets the service handle the request, then closes the socket after this many body bytes. The
  /// head has announced the whole length.
  case dropConnection(afterBytes: Int)
  /// Closes the socket before the service sees the request.
  case dropBeforeHandling
  /// Lets the service handle the request, then closes the socket without sending a byte: the
  /// acknowledgement is lost.
  case dropAfterHandling
  /// Waits, then continues as usual.
  case delay(Duration)
}

/// Keeps the most recent requests and the interceptor. Any thread.
package final class RequestLog: Sendable {
  package typealias Interceptor = @Sendable (LoggedRequest) -> Interception?
  private struct State {
    var requests: [LoggedRequest] = []
    var sequence = 0
    var interceptor: Interceptor?
  }
  private let state = Mutex(State())
  private let file: LogFile?

  /// - Parameter file: Receives one line of JSON for each request.
  init(file: LogFile? = nil) { self.file = file }

  /// Assigns the next number to a request that has arrived.
  func begin(_ request: ServerRequest, by service: any ServerService, time: Int64) -> LoggedRequest {
    let sequence = state.withLock { state in
      state.sequence += 1
      return state.sequence
    }
    return LoggedRequest(
      request, isSecret: service.isSecret(request), grant: service.grant(of: request), sequence: sequence, time: time)
  }

  func append(_ request: LoggedRequest) {
    state.withLock { state in
      // Drop the old half at once: removing the first element for each request would move all
      // others each time.
      if state.requests.count >= 2 * ServerTuning.loggedRequests { state.requests.removeFirst(ServerTuning.loggedRequests) }
      state.requests.append(request)
    }
    file?.write(request.json)
  }

  package var requests: [LoggedRequest] { state.withLock { Array($0.requests.suffix(ServerTuning.loggedRequests)) } }
  package func clear() { state.withLock { $0.requests.removeAll() } }
  package func setInterceptor(_ interceptor: Interceptor?) { state.withLock { $0.interceptor = interceptor } }

  /// Calls the interceptor, outside the lock.
  func interception(of request: LoggedRequest) -> Interception? { state.withLock { $0.interceptor }?(request) }
}

/// A file of JSON lines that only its owner can read. Any thread. Each line is one write.
final class LogFile: Sendable {
  private let descriptor: Int32

  /// - Throws: ``SandboxError`` `CANNOT_WRITE_LOG`, status 0.
  init(path: String) throws(SandboxError) {
    descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      let reason = String(cString: strerror(errno))
      throw SandboxError(status: 0, code: "CANNOT_WRITE_LOG", message: "cannot write the request log \(path): \(reason)")
    }
  }

  deinit { close(descriptor) }

  /// Ignores write errors, such as a full disk: the server continues without the line.
  func write(_ line: JSONObject) {
    let bytes = line.serialized() + [UInt8(ascii: "\n")]
    _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}
