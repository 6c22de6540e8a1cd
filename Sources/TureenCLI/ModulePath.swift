import Glibc
import Tureen

/// Controls where `require` looks for Lua modules.
enum ModulePath {
  /// Lua reads one of these variables when it creates a state: the first that is set.
  private static let names = ["LUA_PATH_5_4", "LUA_PATH"]

  /// Creates a state whose `require` searches this folder first. The environment is restored afterwards, so programs that the
  /// script runs are not affected.
  static func preferring<T, Failure: Error>(
    _ folder: String, _ makeState: () throws(Failure) -> T
  ) throws(Failure) -> T {
    let folder = HostSettings.absolute(folder)
    // Both characters are special in a Lua path, and cannot be escaped.
    guard !folder.contains(where: { $0 == ";" || $0 == "?" }) else { return try makeState() }
    let given = getenv(names[0]).map { String(cString: $0) }
    let others = given ?? getenv(names[1]).map { String(cString: $0) } ?? ";"
    setenv(names[0], "\(folder)/?.lua;\(folder)/?/init.lua;\(others)", 1)
    defer { if let given { setenv(names[0], given, 1) } else { unsetenv(names[0]) } }
    return try makeState()
  }
}
