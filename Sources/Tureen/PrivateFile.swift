import Glibc

/// Whether files that hold secrets, or that are believed, are their owner's alone.
enum PrivateFile {
  /// - Parameter what: How messages call the file.
  /// - Throws: ``HostError`` `.invalidConfiguration` for an ordinary file that others can read or write, or that belongs to
  ///   another user. A pipe or a missing file is left to the reader.
  static func check(_ path: String, what: String) throws {
    try check(path, what, Rule(type: S_IFREG, forbidden: 0o077, others: "read or written", mode: 600))
  }

  /// The same for a folder, which others may look into and may not write to: what is in it is protected by itself.
  static func checkFolder(_ path: String, what: String) throws {
    try check(path, what, Rule(type: S_IFDIR, forbidden: 0o022, others: "written to", mode: 700))
  }

  private struct Rule {
    let type: mode_t
    /// Bits of the mode that give others what they must not have, and what that is.
    let forbidden: mode_t, others: String
    /// What to give `chmod`.
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
      "\(path): \(what) can be \(rule.others) by others (mode \(mode(info))); make it yours alone: chmod \(rule.mode) \(path)")
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
