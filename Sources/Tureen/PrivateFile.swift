import Glibc

/// Whether files that hold secrets, or that are believed, are their owner's alone.
enum PrivateFile {
  /// - Parameter what: How messages call the file.
  /// - Throws: ``HostError`` `.invalidConfiguration` for an ordinary file that others can read or write, or that belongs to
  ///   somebody else. A pipe, and a file that is not there, are left to who reads them.
  static func check(_ path: String, what: String) throws {
    guard let info = status(path), info.st_mode & S_IFMT == S_IFREG else { return }
    try checkOwner(info, path, what)
    guard info.st_mode & 0o077 != 0 else { return }
    throw HostError(
      .invalidConfiguration,
      "\(path): \(what) can be read or written by others (mode \(mode(info))); make it yours alone: chmod 600 \(path)")
  }

  /// The same for a folder, which others may look into and may not write to: what is in it is protected by itself.
  static func checkFolder(_ path: String, what: String) throws {
    guard let info = status(path), info.st_mode & S_IFMT == S_IFDIR else { return }
    try checkOwner(info, path, what)
    guard info.st_mode & 0o022 != 0 else { return }
    throw HostError(
      .invalidConfiguration,
      "\(path): \(what) can be written to by others (mode \(mode(info))); make it yours alone: chmod 700 \(path)")
  }

  private static func checkOwner(_ info: stat, _ path: String, _ what: String) throws {
    guard info.st_uid != geteuid(), info.st_uid != 0 else { return }
    throw HostError(
      .invalidConfiguration, "\(path): \(what) belongs to another user (id \(info.st_uid)); choose one that is yours")
  }

  private static func status(_ path: String) -> stat? {
    var info = stat()
    return stat(path, &info) == 0 ? info : nil
  }

  private static func mode(_ info: stat) -> String {
    let digits = String(info.st_mode & 0o777, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
