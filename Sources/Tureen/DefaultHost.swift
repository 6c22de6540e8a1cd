import CLuaBridge
import LuaBridge
import RestClient
import Synchronization

/// The host of a Lua state that loaded the library with `require "tureen"`: settings come from `tureen.configure` and the
/// environment. Called by `luaopen_tureen`, once for each state.
/// - Returns: 1, or 0 when the process has no descriptor left; then `table` is not filled.
@_cdecl("tureen_default_host")
public func tureenDefaultHost(_ table: UnsafeMutablePointer<tureen_host>) -> Int32 {
  LogSetup.standardError()
  ProgramSignals.keep()
  guard let bridge = try? Bridge(host: Host()) else { return 0 }
  table.pointee = bridge.makeTable()
  return 1
}
