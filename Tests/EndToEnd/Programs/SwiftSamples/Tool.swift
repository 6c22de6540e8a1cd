import Glibc
import JSON
import LuaBridge
import SmartStore
import Synchronization
import Tureen

/// A tool in Swift with the library inside: works on a store, syncs, and runs a script of somebody else's under limits.
/// Usage: SwiftTool HOME
struct Tool {
  let host: Host

  init(home: String) {
    var settings = HostSettings()
    settings.home = home
    settings.isRestricted = true
    host = Host(settings: settings)
  }

  func store(_ action: SmartStoreAction, _ arguments: JSONObject) throws -> JSONValue {
    try JSONValue(parsing: host.smartStore(action, call(arguments)))
  }

  /// Starts a sync; its last state comes out.
  func syncDown(_ arguments: JSONObject) async throws -> JSONValue {
    let host = host, call = call(arguments)
    let state: [UInt8] = try await withCheckedThrowingContinuation { continuation in
      let waiting = Mutex<CheckedContinuation<[UInt8], any Error>?>(continuation)
      @Sendable func end(_ result: Result<[UInt8], any Error>) {
        let waiting = waiting.withLock { waiting in
          defer { waiting = nil }
          return waiting
        }
        waiting?.resume(with: result)
      }
      do {
        _ = try host.mobileSync(.syncDown, call) { update in
          switch update {
          case .sync(let sync) where sync.isTerminal: end(sync.error.map { .failure($0) } ?? .success(sync.state))
          case .failed(let error): end(.failure(error))
          default: break
          }
        }
      } catch {
        end(.failure(error))
      }
    }
    return try JSONValue(parsing: state)
  }

  private func call(_ arguments: JSONObject) -> ActionCall {
    ActionCall(store: StoreReference(), arguments: arguments, rawArguments: JSONValue.object(arguments).serialized())
  }
}

extension Tool {
  @MainActor static func run() async throws {
    let tool = Tool(home: CommandLine.arguments[1])
    let index: JSONObject = ["path": "Id", "type": "string"]
    _ = try tool.store(.registerSoup, ["soupName": "people", "indexes": [.object(index)]])
    _ = try tool.store(.upsertSoupEntries, ["soupName": "people", "entries": [["Id": "mine"]]])
    let sync = try await tool.syncDown([
      "soupName": "people", "target": ["type": "soql", "query": "SELECT Id, LastName FROM Contact"],
      "options": ["mergeMode": "OVERWRITE"],
    ])
    print("sync down \(sync["status"]?.stringValue ?? "?") with \(sync["totalSize"]?.integerValue ?? -1)")

    var limits = ScriptLimits()
    limits.isRestricted = true
    limits.instructions = 100_000_000
    let script = try ScriptState(host: tool.host, limits: limits)
    let outcome = script.run(
      text: """
        local tureen = require "tureen"
        local spec = tureen.smartstore.buildSmartQuerySpec("SELECT count(*) FROM {people}", 1)
        tureen.smartstore.runSmartQuery(spec, function(cursor) print("script sees " .. cursor.currentPageOrderedEntries[1][1]) end)
        tureen.run()
        while true do pcall(function() while true do end end) end
        """)
    if case .limitReached(let kind, _) = outcome { print("script ended by its limit: \(kind)") } else { print("\(outcome)") }
    script.close()
  }
}
