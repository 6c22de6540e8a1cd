import JSON
import LuaBridge
import RestClient
import SandboxOrg
import Synchronization
import TestSupport
import Testing
import Tureen

/// Runs Lua scripts in this process with the real bridge, stores and syncs, against a sandbox org over HTTP.
///
/// A script reports with `note(name, value)`; the values are recorded in order, by name.
final class ScriptRunner: Sendable {
  let folder: TemporaryFolder
  let server: SandboxServer
  private let notes = Notes()

  /// The values that scripts reported.
  private final class Notes: Sendable {
    let list = Mutex<[(name: String, value: JSONValue)]>([])
  }

  var home: String { folder.path + "/home" }
  var configDirectory: String { folder.path }

  init(contacts: Int = 30, configuring configure: (inout SandboxConfiguration) -> Void = { _ in }) async throws {
    folder = try TemporaryFolder()
    var configuration = SandboxConfiguration()
    configuration.seed = .custom(accounts: 5, contacts: contacts)
    configure(&configuration)
    server = try await SandboxServer.start(configuration)
  }

  /// Returns a host with this runner's home and org.
  func makeHost(changing change: (inout HostSettings) -> Void = { _ in }) -> Host {
    var settings = HostSettings()
    settings.home = home
    settings.org = "sandbox"
    settings.configDirectory = configDirectory
    let access = server.credentials()
    settings.embeddedSandbox = { _ in
      .password(
        loginURL: access.loginURL, clientId: access.clientId, clientSecret: access.clientSecret,
        username: access.username, password: access.password)
    }
    settings.services["test"] = makeNote
    settings.allowedServices.insert("test")
    change(&settings)
    return Host(settings: settings)
  }

  /// Implements the service for `note`.
  @Sendable func makeNote(_ name: String, _ arguments: JSONObject) throws -> JSONValue? {
    notes.list.withLock { $0.append((name, arguments["value"] ?? .null)) }
    return "OK"
  }

  /// The beginning of every script.
  private static let prelude = """
    local tureen = require "tureen"
    local smartstore, mobilesync = tureen.smartstore, tureen.mobilesync
    local function note(name, value)
      if value == nil then value = tureen.null end
      tureen.exec(nil, nil, "test", name, { value = value })
    end
    local SPECS = { { path = "Id", type = "string" }, { path = "LastName", type = "string" },
      { path = "__local__", type = "string" }, { path = "__sync_id__", type = "integer" } }
    local CONTACTS = { type = "soql", query = "SELECT Id, FirstName, LastName, LastModifiedDate FROM Contact" }
    local OVERWRITE = { mergeMode = "OVERWRITE" }

    """

  /// Runs a script to its end on a separate thread, as a program would.
  /// - Parameter body: Lua code. May call `note` and use `smartstore`, `mobilesync`, `SPECS`, `CONTACTS`, `OVERWRITE`.
  @discardableResult
  func run(_ body: String, on host: Host? = nil) async throws -> ScriptState.Outcome {
    let host = host ?? makeHost()
    return try await withCheckedThrowingContinuation { continuation in
      Thread.start {
        continuation.resume(
          with: Result {
            let state = try ScriptState(host: host)
            defer { state.close() }
            return state.run(text: ScriptRunner.prelude + body)
          })
      }
    }
  }

  /// Runs a function body as a task to its end, and stops the server.
  ///
  /// - Parameters:
  ///   - body: Lua code that may wait.
  ///   - before: Lua code before the task that defines locals for the body.
  /// - Returns: The result of the body; nil if it did not return.
  func value(of body: String, before: String, on host: Host? = nil) async throws -> JSONValue? {
    let outcome = try await run(
      """
      \(before)
      tureen.async(function()
        local function body() \(body) end
        note("result", body())
      end)
      assert(tureen.run())
      """, on: host)
    #expect(outcome == .done)
    await server.stop()
    return noted("result").last
  }

  /// Returns the values that were reported under a name, in order.
  func noted(_ name: String) -> [JSONValue] { notes.list.withLock { $0.filter { $0.name == name }.map(\.value) } }
}
