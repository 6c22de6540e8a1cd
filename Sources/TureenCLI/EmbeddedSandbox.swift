import Dispatch
import JSON
import LuaBridge
import RestClient
import Salesforce
import Synchronization
import Tureen

#if Sandbox
  import SandboxForge
  import SandboxOrg
  import SandboxParse
#endif

/// The sandbox org of a command: the one that `tureen sandbox` serves under the home, else one that starts when a script first
/// needs it and ends with the script.
final class EmbeddedSandbox: Sendable {
  /// The service that changes records and settings of the org directly.
  static let service = "tureen.sandbox"
  private let home: String
  private let queue = DispatchQueue(label: "tureen.sandbox")
  private let control = Mutex<(any SandboxControl)?>(nil)

  init(home: String) { self.home = home }

  /// Settings for a host that starts this org on demand and whose scripts may change records directly on the server.
  func settings(home: String?, org: String?, configDirectory: String?) -> HostSettings {
    var settings = HostSettings()
    settings.home = home
    settings.org = org
    settings.configDirectory = configDirectory
    settings.embeddedSandbox = { home in try self.credentials(home: home) }
    settings.services[Self.service] = { action, arguments in try self.perform(action, arguments) }
    return settings
  }

  /// Finds or starts the org. Blocks.
  func credentials(home: String) throws -> Credentials { try find(home).credentials(home: home) }

  private func find(_ home: String) throws -> any SandboxControl {
    try queue.sync {
      if let found = control.withLock({ $0 }) { return found }
      let found: any SandboxControl
      if let served = ServedSandbox.find(home: home) {
        found = try ServedControl(served)
      } else {
        #if Sandbox
          found = try OwnSandbox(home: home)
        #else
          throw HostError(
            .noSuchOrg,
            "this build of tureen has no sandbox org (package trait Sandbox); choose another org with --org or $TUREEN_ORG")
        #endif
      }
      control.withLock { $0 = found }
      return found
    }
  }

  func stop() { control.withLock { $0 }?.stop() }

  /// Performs an action of the service `tureen.sandbox`, which changes the server directly.
  func perform(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
    try find(home).perform(action, arguments)
  }
}

/// A sandbox org in this process or in another one. All calls block.
protocol SandboxControl: Sendable {
  /// Credentials to sign in with.
  func credentials(home: String) throws -> Credentials
  /// - Returns: Nil if there is no such action.
  func perform(_ action: String, _ arguments: JSONObject) throws -> JSONValue?
  func stop()
}

#if Sandbox
  /// An org in this process.
  private struct OwnSandbox: SandboxControl {
    private let server: SandboxServer

    init(home: String) throws {
      var configuration = SandboxConfiguration()
      configuration.databasePath = try SandboxFiles.database(home: home)
      let files = SandboxFiles.schemaAndSeeds(home: home)
      configuration.schemaPath = files.schema
      configuration.seedPaths = files.seeds
      if !files.seeds.isEmpty { configuration.seed = .none }
      configuration.mounts = [ForgeService().mount] + ParseService().mounts
      server = try waitFor { [configuration] in try await SandboxServer.start(configuration) }
    }

    func credentials(home: String) throws -> Credentials {
      let access = server.credentials()
      return .password(
        loginURL: access.loginURL, clientId: access.clientId, clientSecret: access.clientSecret, username: access.username,
        password: access.password)
    }

    func perform(_ action: String, _ arguments: JSONObject) throws -> JSONValue? {
      do {
        if let value = try server.control(action, arguments) { return value }
      } catch let error as SandboxError where ["INVALID_ARGUMENT", "INVALID_FAULT"].contains(error.code) {
        throw BridgeError(domain: "bridge", code: "invalidArguments", message: error.message)
      } catch {
        throw BridgeError(domain: "sandbox", code: "refused", message: "\(error)")
      }
      let known = SandboxServer.controlActions + ForgeService.controlActions + ParseService.controlActions
      let hint = NearestName.hint(for: action, among: known)
      throw BridgeError(
        domain: "bridge", code: "unknownAction", message: "unknown action '\(action)' of service 'tureen.sandbox'\(hint)")
    }

    func stop() { _ = try? waitFor { [server] in await server.stop() } }
  }
#endif

/// Blocks a plain thread until an async operation has finished.
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
