import Glibc

/// Checks that files and folders with secrets or trusted content are not accessible to other users.
enum PrivateFile {
  /// Checks a file.
  /// - Parameter what: The description of the file in messages.
  /// - Throws: ``HostError`` `.invalidConfiguration` for a regular file that others can read or write, or that belongs to
  ///   another user. Pipes and missing files are not checked.
  static func check(_ path: String, what: String) throws {
    try check(path, what, Rule(type: S_IFREG, forbidden: 0o077, others: "read or written", mode: 600))
  }

  /// Checks a folder. Others may read it, because its files have their own permissions, but must not write to it.
  static func checkFolder(_ path: String, what: String) throws {
    try check(path, what, Rule(type: S_IFDIR, forbidden: 0o022, others: "written to", mode: 700))
  }

  private struct Rule {
    let type: mode_t
    /// The mode bits that others must not have, and the description of that access.
    let forbidden: mode_t, others: String
    /// The mode to suggest for `chmod`.
    let mode: Int
  }

  private static func check(_ path: String, _ what: String, _ rule: Rule) throws {
    guard let info = status(path), info.st_mode & S_IFMT == rule.type else { return }
    guard info.st_uid == geteuid() || info.st_uid == 0 else {
      throw HostError(
        .invalidConfiguration, "\(path): \(what) belongs to another user (id \(info.st_uid)); choose one that is yours")
    }
    guard info.st_mode & rule.forbidden != 0 else { return }
    throw HostError(
      .invalidConfiguration,
      "\(path): \(what) can be \(rule.others) by others (mode \(mode(info))); make it private: chmod \(rule.mode) \(path)"
    )
  }

  private static func status(_ path: String) -> stat? {
    var info = stat()
    return stat(path, &info) == 0 ? info : nil
  }

  static func mode(_ info: stat) -> String {
    let digits = String(info.st_mode & 0o777, radix: 8)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
