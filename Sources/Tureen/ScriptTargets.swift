import JSON
import LuaBridge
import MobileSync
import Synchronization

/// Runs custom sync targets and conflict resolvers in the attached script.
final class ScriptTargets: CustomTargetRunner {
  private let script = Mutex<ScriptCalls?>(nil)

  func attach(_ calls: ScriptCalls) { script.withLock { $0 = calls } }

  /// The attached script.
  var attached: ScriptCalls? { script.withLock { $0 } }

  func run(_ call: CustomTargetCall) async throws -> [UInt8] {
    let label = "custom target '\(call.implementation)'"
    let noScript = SyncError(
      .customTarget,
      "\(label): targets of type 'custom' are functions of a Lua script, and none is running: run the sync in one, "
        + "with tureen run or luaopen_tureen")
    let request: JSONObject = [
      "implementation": .string(call.implementation), "function": .string(call.function.rawValue),
      "target": .object(call.target), "arguments": .object(call.arguments), "ifRegistered": .bool(call.ifRegistered),
    ]
    func message(_ error: BridgeError) -> String { "\(label), \(call.function.rawValue): \(error.message)" }
    do {
      return try await ask(request, or: noScript) { error in
        guard call.function.isOfUploads, error.code == "raised" else { return SyncError(.customTarget, message(error)) }
        return Raised(message: message(error))
      }
    } catch let error as Raised {
      return JSONValue.object(["raised": .string(error.message)]).serialized()
    }
  }

  /// An error that a function raised for the records of one call.
  private struct Raised: Error { let message: String }

  /// Sends a request to the script and returns its answer.
  /// - Throws: `noScript` if there is none; an error in the script, converted by `failure`.
  private func ask(
    _ request: JSONObject, or noScript: SyncError, failure: (BridgeError) -> any Error
  ) async throws -> [UInt8] {
    guard let script = attached else { throw noScript }
    do {
      return try await script.call(request.serialized())
    } catch is ScriptCalls.NoScript {
      throw noScript
    } catch let error as BridgeError {
      throw failure(error)
    }
  }
}

extension ScriptTargets: ConflictResolverSource {
  func resolve(_ conflict: SyncConflict, with name: String) async throws -> ConflictResolution {
    try await resolve(conflict, with: name, ifRegistered: false)
  }

  func resolve(_ conflict: SyncConflict, with name: String, ifRegistered: Bool) async throws -> ConflictResolution {
    let label = "resolver '\(name)'"
    let noScript = SyncError(
      .resolver,
      "\(label): the option 'resolver' names a function of a Lua script, and none is running: the conflict stays, for "
        + "getConflicts and resolveConflict, and all other records were synced. Run the sync in that script, or leave the "
        + "option out")
    let request: JSONObject = [
      "implementation": .string(name), "function": "resolveConflict", "arguments": .object(conflict.json),
      "ifRegistered": .bool(ifRegistered),
    ]
    let text = try await ask(request, or: noScript) {
      SyncError(.resolver, "\(label), entry \(conflict.entryId) of soup \(conflict.soupName): \($0.message)")
    }
    let answer = try JSONValue(parsing: text)
    if let record = answer["record"]?.objectValue { return .record(record) }
    switch answer["resolution"]?.stringValue {
    case "local": return .local
    case "server": return .server
    default: return .skip
    }
  }
}

extension CustomTargetCall.Function {
  /// Whether the function sends or reads single records of a sync up.
  fileprivate var isOfUploads: Bool {
    switch self {
    case .createOnServer, .updateOnServer, .deleteOnServer, .fetchLastModifiedDates, .fetchFromServer, .isNewerThanServer: true
    case .startFetch, .continueFetch, .remoteIds, .transform, .functions: false
    }
  }
}
