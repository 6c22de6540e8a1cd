import JSON
import LuaBridge
import MobileSync
import Synchronization

/// Runs custom sync targets and resolvers in the script that is attached to the host.
final class ScriptTargets: CustomTargetRunner {
  private let script = Mutex<ScriptCalls?>(nil)

  func attach(_ calls: ScriptCalls) { script.withLock { $0 = calls } }

  /// The script that is attached.
  var attached: ScriptCalls? { script.withLock { $0 } }

  func run(_ call: CustomTargetCall) async throws -> [UInt8] {
    let label = "custom target '\(call.implementation)'"
    let noScript = SyncError(
      .customTarget,
      "\(label): targets of type 'custom' are functions of a Lua script, and there is none here: run the sync in one, "
        + "with tureen run or luaopen_tureen")
    guard let script = attached else { throw noScript }
    let request: JSONObject = [
      "implementation": .string(call.implementation), "function": .string(call.function.rawValue),
      "target": .object(call.target), "arguments": .object(call.arguments),
    ]
    do {
      return try await script.call(request.serialized())
    } catch is ScriptCalls.NoScript {
      throw noScript
    } catch let error as BridgeError {
      throw SyncError(.customTarget, "\(label), \(call.function.rawValue): \(error.message)")
    }
  }
}

extension ScriptTargets: ConflictResolverSource {
  func resolve(_ conflict: SyncConflict, with name: String) async throws -> ConflictResolution {
    let label = "resolver '\(name)'"
    let noScript = SyncError(
      .resolver,
      "\(label): the option 'resolver' names a function of a Lua script, and there is none here: without the option conflicts "
        + "are kept, for getConflicts and resolveConflict")
    guard let script = attached else { throw noScript }
    let request: JSONObject = [
      "implementation": .string(name), "function": "resolveConflict", "arguments": .object(conflict.json),
    ]
    let answer: JSONValue
    do {
      answer = try JSONValue(parsing: try await script.call(request.serialized()))
    } catch is ScriptCalls.NoScript {
      throw noScript
    } catch let error as BridgeError {
      throw SyncError(.resolver, "\(label), entry \(conflict.entryId) of soup \(conflict.soupName): \(error.message)")
    }
    if let record = answer["record"]?.objectValue { return .record(record) }
    switch answer["resolution"]?.stringValue {
    case "local": return .local
    case "server": return .server
    default: return .skip
    }
  }
}
