import Dispatch
import JSON
import LuaBridge
import RestClient
import SandboxOrg
import Synchronization
import Tureen

/// The sandbox org of `tureen run`: started when the script first needs an org, ended with the script.
final class EmbeddedSandbox: Sendable {
  private let home: String
  private let queue = DispatchQueue(label: "tureen.sandbox")
  private let server = Mutex<SandboxServer?>(nil)

  init(home: String) { self.home = home }

  /// The settings of a host that starts this org when it needs one, and whose scripts may change it behind the store's back.
  func settings(home: String?, org: String?, configDirectory: String?) -> HostSettings {
    var settings = HostSettings()
    settings.home = home
    settings.org = org
    settings.configDirectory = configDirectory
    settings.embeddedSandbox = { home in try self.credentials(home: home) }
    settings.services["tureen.sandbox"] = { action, arguments in try self.perform(action, arguments) }
    return settings
  }

  /// Starts the org if it is not running. Blocks.
  func credentials(home: String) throws -> Credentials {
    let server = try start(home)
    let access = server.credentials()
    return .password(
      loginURL: access.loginURL, clientId: access.clientId, clientSecret: access.clientSecret, username: access.username,
      password: access.password)
  }

  private func start(_ home: String) throws -> SandboxServer {
    try queue.sync {
      if let running = server.withLock({ $0 }) { return running }
      var configuration = SandboxConfiguration()
      configuration.databasePath = try SandboxFiles.database(home: home)
      let files = SandboxFiles.schemaAndSeeds(home: home)
      configuration.schemaPath = files.schema
      configuration.seedPaths = files.seeds
      if !files.seeds.isEmpty { configuration.seed = .none }
      let started = try waitFor { [configuration] in try await SandboxServer.start(configuration) }
      server.withLock { $0 = started }
      return started
    }
  }

  func stop() {
    guard let running = server.withLock({ $0 }) else { return }
    _ = try? waitFor { await running.stop() }
  }

  /// The actions of the service `tureen.sandbox`: changes made on the server, behind the store's back.
  func perform(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
    let server = try start(home)
    do {
      return try server.control(action, arguments)
    } catch let error as SandboxError where ["INVALID_ARGUMENT", "INVALID_FAULT"].contains(error.code) {
      throw BridgeError(domain: "bridge", code: "invalidArguments", message: error.message)
    } catch {
      throw BridgeError(domain: "sandbox", code: "refused", message: "\(error)")
    }
  }
}

/// Waits on a plain thread for work of the cooperative pool.
func waitFor<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
  let done = DispatchSemaphore(value: 0)
  let result = Mutex<Result<T, any Error>?>(nil)
  Task {
    let outcome: Result<T, any Error>
    do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    result.withLock { $0 = outcome }
    done.signal()
  }
  done.wait()
  return try result.withLock { $0! }.get()
}
