import Glibc
import JSON
import Synchronization

/// One request as it was answered.
public struct LoggedRequest: Sendable, Equatable {
  /// Counts the requests of a server from 1 on, in the order they came.
  public let sequence: Int
  public let method: String
  /// As sent, without the query.
  public let path: String
  /// Percent-decoded, in order, as `name=value` pairs; empty for resources that carry secrets.
  public let query: [String]
  /// Its first 16 KB; empty for resources that carry secrets.
  public let body: String
  /// What the `Host` header said.
  public let host: String
  /// Eight digits that stand for the access token; nil without one.
  public let session: String?
  /// The OAuth grant that a token request asks for, such as `refresh_token`; nil for all other requests.
  public let grant: String?
  /// Seconds since 1970 UTC by the server's clock, when it came.
  public let time: Int64
  /// Id of the user who was signed in; nil while it is unanswered.
  public internal(set) var user: String?
  /// 0 while it is unanswered (in an interceptor), and when the connection was closed instead.
  public internal(set) var status: Int
  /// Body bytes of the answer that were sent.
  public internal(set) var bytes: Int
  /// From the arrival of the whole request to the answer, by the computer's clock.
  public internal(set) var duration: Duration
  /// Names of the fault kinds it got, in the order of their rules.
  public internal(set) var faults: [String]
  /// Milliseconds that faults made it wait before it was handled, by the clock each names.
  public internal(set) var delay: Int

  /// - Parameter isSecret: The query and the body are not kept.
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

  /// The value of a query parameter.
  public func parameter(_ name: String) -> String? {
    query.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.utf8.count + 1)) }
  }

  /// `GET /services/data 200`, and the faults: `GET /services/data 0 dropBeforeResponse`.
  public var summary: String { (["\(method) \(path) \(status)"] + faults).joined(separator: " ") }

  /// Everything but the body, which may hold secrets.
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

/// What an interceptor does to a request instead of letting it through.
public enum Interception: Sendable {
  /// Answers without asking the service.
  case respond(status: Int, headers: [(name: String, value: String)] = [], body: String)
  /// Lets the service handle the request, then closes the socket after so many body bytes of its answer; the head has
  /// announced the whole length.
  case dropConnection(afterBytes: Int)
  /// Closes the socket; the service never sees the request.
  case dropBeforeHandling
  /// Lets the service handle the request and closes the socket without a word: a lost acknowledgement.
  case dropAfterHandling
  /// Waits, then goes on as usual.
  case delay(Duration)
}

/// The last requests, and the hook that may interfere with them. Any thread.
package final class RequestLog: Sendable {
  package typealias Interceptor = @Sendable (LoggedRequest) -> Interception?
  private struct State {
    var requests: [LoggedRequest] = []
    var sequence = 0
    var interceptor: Interceptor?
  }
  private let state = Mutex(State())
  private let file: LogFile?

  /// - Parameter file: Gets a line of JSON for each request.
  init(file: LogFile? = nil) { self.file = file }

  /// A number for a request that has come.
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
      // Cut in one go now and then: removing the first each time would move them all.
      if state.requests.count >= 2 * ServerTuning.loggedRequests { state.requests.removeFirst(ServerTuning.loggedRequests) }
      state.requests.append(request)
    }
    file?.write(request.json)
  }

  package var requests: [LoggedRequest] { state.withLock { Array($0.requests.suffix(ServerTuning.loggedRequests)) } }
  package func clear() { state.withLock { $0.requests.removeAll() } }
  package func setInterceptor(_ interceptor: Interceptor?) { state.withLock { $0.interceptor = interceptor } }

  /// The interceptor runs outside the lock.
  func interception(of request: LoggedRequest) -> Interception? { state.withLock { $0.interceptor }?(request) }
}

/// A file of JSON lines, for its owner alone. Any thread; a line is written at once and whole.
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

  /// What the disk does not take is dropped: a server goes on without its log.
  func write(_ line: JSONObject) {
    let bytes = line.serialized() + [UInt8(ascii: "\n")]
    _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}
