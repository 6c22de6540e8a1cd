import JSON
import LuaBridge

/// Implements the actions of `tureen.host`.
extension Host {
  public func host(
    _ action: HostAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    switch action {
    case .doctor:
      try capabilities().require("tureen.host", for: "host.doctor")
      var options = DoctorOptions()
      options.isOffline = call.value("offline")?.boolValue ?? false
      options.isDeep = call.value("deep")?.boolValue ?? false
      options.fixes = call.value("fix")?.boolValue ?? false
      let chosen = options, user = try core().user
      Host.answer(call, as: user, onUpdate) { .object(try await Blocking.offPool { try self.doctor(chosen).json }) }
    }
  }
}
