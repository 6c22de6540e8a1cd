import Foundation
import Glibc
import JSON
import Logging
import Synchronization
import TestSupport

@testable import RestClient

/// A clock that only moves when something waits: every sleep returns at once and advances it.
final class SleepClock: Sendable {
  private let state: Mutex<(now: Double, slept: [Double])>

  init(_ now: Double = 1_700_000_000) { state = Mutex((now, [])) }

  var now: Double { state.withLock { $0.now } }
  var slept: [Double] { state.withLock { $0.slept } }
  func advance(_ seconds: Double) { state.withLock { $0.now += seconds } }

  var environment: RetryEnvironment {
    RetryEnvironment(
      sleep: { seconds in
        try Task.checkCancellation()
        self.state.withLock { state in
          state.now += seconds
          state.slept.append(seconds)
        }
      }, random: { 0 }, now: { self.now })
  }
}

/// Counts from 1. Threads: any.
final class Counter: @unchecked Sendable {  // `count` is touched with `condition` locked
  private let condition = NSCondition()
  private var count = 0

  func next() -> Int {
    condition.withLock {
      count += 1
      condition.broadcast()
      return count
    }
  }

  /// Blocks until the count is reached. For handlers of servers.
  func wait(for wanted: Int) {
    condition.withLock { while count < wanted { condition.wait() } }
  }
}

/// Collects the output of a request log.
final class WrittenLog: Sendable {
  private let lines = Mutex<String>("")
  var text: String { lines.withLock { $0 } }
  func log(_ level: RequestLogLevel, isStored: Bool = false) -> RequestLog {
    RequestLog(level: level, isStored: isStored, now: { 1_795_423_562.125 }) { text in self.lines.withLock { $0 += text } }
  }
}

/// Secrets that a test can change, with a count of reads.
final class TestSecrets: Sendable {
  private let state = Mutex<(values: [String: String], reads: Int)>(([:], 0))

  init(_ values: [String: String] = [:]) { state.withLock { $0.values = values } }

  var reads: Int { state.withLock { $0.reads } }
  subscript(name: String) -> String? {
    get { state.withLock { $0.values[name] } }
    set { state.withLock { $0.values[name] = newValue } }
  }

  var reading: SecretReading {
    SecretReading { (source) throws(SecretReading.Failure) in
      guard case .environment(let name) = source else {
        throw SecretReading.Failure("\(source.name): not here", isMissing: false)
      }
      let value = self.state.withLock { state in
        state.reads += 1
        return state.values[name]
      }
      guard let value else { throw SecretReading.Failure("\(source.name) is not set", isMissing: true) }
      return value
    }
  }
}

/// The environment of a connection in a test: settings as in `connections.json`, a clock, secrets,
/// a log.
struct ConnectionBed: Sendable {
  var clock = SleepClock()
  var secrets = TestSecrets()
  var written = WrittenLog()
  var level = RequestLogLevel.off
  var home: String?
  var reachableHosts: ReachableHosts?
  var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  func make(_ baseURL: String, _ members: JSONObject = [:], name: String = "api") throws -> RestConnection {
    var object = members
    object["baseURL"] = .string(baseURL)
    let origin = ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: true)
    let settings = try ConnectionSettings(name: name, json: .object(object), from: origin)
    var environment = RestConnection.Environment(home: home, secrets: secrets.reading)
    environment.retry = clock.environment
    environment.log = written.log(level)
    environment.logger = logger
    environment.userAgent = { "tureen/test" }
    environment.reachableHosts = reachableHosts
    return RestConnection(settings, environment: environment)
  }

  /// Runs `body` with a connection and shuts it down in every case.
  func with<R>(
    _ server: ScriptedServer, _ members: JSONObject = [:], path: String = "", name: String = "api",
    _ body: (RestConnection) async throws -> R
  ) async throws -> R {
    let connection = try make(server.url + path, members, name: name)
    do {
      let result = try await body(connection)
      await connection.shutdown()
      return result
    } catch {
      await connection.shutdown()
      throw error
    }
  }
}

extension RestConnection {
  /// Sends a GET with a cache mode.
  func get(_ path: String, _ mode: CacheMode = .bypass, headers: [(name: String, value: String)] = []) async throws
    -> ConnectionResponse
  {
    try await send(RestRequest(.GET, path, headers: headers), ConnectionOptions(cache: mode))
  }
}

/// Returns the permissions of a file.
func mode(of path: String) throws -> UInt32 {
  var info = stat()
  guard stat(path, &info) == 0 else { throw Unexpected(what: "\(path) is not there") }
  return info.st_mode & 0o777
}
