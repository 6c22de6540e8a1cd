import Glibc

/// Where `require` looks for Lua modules.
enum ModulePath {
  /// Lua reads the variable when a state is made; the first one that is set counts.
  private static let names = ["LUA_PATH_5_4", "LUA_PATH"]

  /// Makes a state whose `require` looks in a folder before everywhere else. The environment is as before afterwards: programs
  /// that the script runs see nothing of it.
  static func preferring<T, Failure: Error>(
    _ folder: String, _ makeState: () throws(Failure) -> T
  ) throws(Failure) -> T {
    // Both mean something in a path of Lua, and nothing takes that away.
    guard !folder.contains(where: { $0 == ";" || $0 == "?" }) else { return try makeState() }
    let given = getenv(names[0]).map { String(cString: $0) }
    let others = given ?? getenv(names[1]).map { String(cString: $0) } ?? ";"
    setenv(names[0], "\(folder)/?.lua;\(folder)/?/init.lua;\(others)", 1)
    defer { if let given { setenv(names[0], given, 1) } else { unsetenv(names[0]) } }
    return try makeState()
  }
}
