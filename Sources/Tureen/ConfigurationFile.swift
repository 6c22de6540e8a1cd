import Glibc
import JSON
import Support

/// A configuration file of a folder, and whether its settings may reach outside the folder.
struct ConfigurationFile: Sendable {
  let json: JSONFile
  private let directory: String
  /// Why the file may be the work of another user; nil if it is not, or if its folder is trusted all the same.
  private let doubt: FileDoubt?

  /// `O_PATH` of Linux, a macro that Swift does not import: opens a folder that may be searched, but not listed.
  private static let onlyPath: Int32 = 0o10_000_000

  private static let mostBytes = 8 << 20

  /// Opens and reads a file.
  /// - Parameter directory: An absolute path.
  /// - Returns: Nil if there is no such file.
  /// - Throws: `JSONFile.Problem` if it is not valid JSON, ``HostError`` `.invalidConfiguration` if it cannot be read.
  static func read(_ name: String, in directory: String, _ trusted: TrustedFolders) throws -> ConfigurationFile? {
    let folder = open(directory, onlyPath | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return nil }
    defer { close(folder) }
    let descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK), path = "\(directory)/\(name)"
    guard descriptor >= 0 || errno != ENOENT else { return nil }
    defer { if descriptor >= 0 { close(descriptor) } }
    var info = stat()
    guard descriptor >= 0, fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG,
      let text = FileSystem.read(descriptor, most: mostBytes)
    else {
      throw HostError(
        .invalidConfiguration,
        descriptor >= 0 && errno == EFBIG
          ? "\(path): is larger than \(mostBytes >> 20) MiB, the most that a configuration file can have"
          : "\(path): cannot be read; check that it is a file and its permissions")
    }
    let isTrusted = fstat(folder, &info) == 0 && trusted.contains(info)
    return ConfigurationFile(
      json: try JSONFile(name: path, text: text), directory: directory,
      doubt: isTrusted ? nil : FileDoubt.of(name, descriptor, in: folder, directory))
  }

  /// Refuses a setting that reaches outside the folder if another user may have written it.
  /// - Parameter subject: What the message calls the setting; nil for the quoted key.
  /// - Throws: `JSONFile.Problem`, with the file, the line, the key and the remedy.
  func checkTrust(key: String, as subject: String? = nil) throws(JSONFile.Problem) {
    try checkTrust(at: [.key(key)], subject ?? "'\(key)'")
  }

  private func checkTrust(at place: [JSONFile.Step], _ subject: String) throws(JSONFile.Problem) {
    guard let doubt else { return }
    throw json.problem(
      at: place,
      "\(subject) is refused, because it reaches outside the folder, and \(doubt.reason): \(doubt.remedy); or, if "
        + "you trust the folder, set \(TrustedFolders.variable)=\(directory)")
  }

  /// The members of a sync's definition that name Lua code, which runs with all rights of the script.
  private static let code = [("target", "luaImpl"), ("target", "transform"), ("options", "resolver")]

  /// Refuses the names of code in a file of syncs that another user may have written.
  /// - Throws: `JSONFile.Problem`.
  func checkTrustOfCode() throws(JSONFile.Problem) {
    for (i, sync) in (json.value["syncs"]?.arrayValue ?? []).enumerated() {
      if sync["after"].map({ !$0.isNull }) ?? false {
        try checkTrust(at: [.key("syncs"), .position(i), .key("after")], "the program that 'after' names")
      }
      for (part, key) in Self.code {
        guard let name = sync[part]?[key], !name.isNull else { continue }
        try checkTrust(at: [.key("syncs"), .position(i), .key(part), .key(key)], "the Lua code that '\(key)' names")
      }
    }
  }

  /// Refuses the connections of a file that another user may have written.
  /// - Throws: `JSONFile.Problem`.
  func checkTrustOfConnections() throws(JSONFile.Problem) {
    guard let name = json.value.objectValue?.first(where: { _ in true })?.key else { return }
    try checkTrust(key: name, as: "connection '\(name)'")
  }
}
