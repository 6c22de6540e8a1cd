import JSON
import LuaBridge
import MobileSync

/// Implements the action that compares a soup with its server.
extension Host {
  func verify(
    _ manager: SyncManager, _ call: ActionCall, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    let word = call.value("level")?.stringValue ?? VerifyLevel.content.rawValue
    guard let level = VerifyLevel(rawValue: word) else {
      let known = VerifyLevel.allCases.map(\.rawValue).joined(separator: ", ")
      throw SyncError(.invalidArguments, "level must be one of \(known), got '\(word)'")
    }
    let stop = try manager.verifySync(
      try reference(call), level: level, repair: call.value("repair")?.boolValue ?? false,
      max: call.value("max")?.integerValue.map { Int(clamping: $0) }
    ) { result in
      switch result {
      case .success(let found): onUpdate(.finished(JSONValue.object(found.json).serialized()))
      case .failure(let error): onUpdate(.failed(error))
      }
    }
    call.cancellation?.onCancel(stop)
  }

  /// Returns how many requests a run may send; nil for any number.
  func maxRequests(_ call: ActionCall) throws -> Int? {
    try call.value("maxRequests").map { _ in Int(clamping: try call.integer("maxRequests")) }
  }
}
