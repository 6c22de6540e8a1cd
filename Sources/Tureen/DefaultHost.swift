import CLuaBridge
import LuaBridge
import Synchronization

/// Creates the host of a Lua state that loads the library with `require "tureen"`. Its settings come from `tureen.configure` and
/// the environment. `luaopen_tureen` calls it once per state.
/// - Returns: 1, or 0 if the process has no file descriptors left; `table` is not filled then.
@_cdecl("tureen_default_host")
public func tureenDefaultHost(_ table: UnsafeMutablePointer<tureen_host>) -> Int32 {
  LogSetup.standardError()
  guard let bridge = try? Bridge(host: Host()) else { return 0 }
  table.pointee = bridge.makeTable()
  return 1
}
