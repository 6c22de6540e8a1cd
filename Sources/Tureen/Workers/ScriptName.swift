import Glibc
import Support

/// The file of a script job: a name below the worker's folder of scripts. The job may have been added on another machine, so the
/// name must not lead out of the folder.
enum ScriptName {
  /// - Throws: ``JobError`` `.invalidJob`.
  static func check(_ name: String) throws(JobError) {
    let parts = name.split(separator: "/", omittingEmptySubsequences: false)
    guard !name.isEmpty, !name.utf8.contains(0), parts.allSatisfy({ !["", ".", ".."].contains($0) }) else {
      throw JobError(
        .invalidJob,
        "'\(name)' cannot be the script of a job: give its path below the folder that workers get with --scripts, such as "
          + "nightly.lua or reports/daily.lua")
    }
  }

  /// Returns the path of the script.
  /// - Parameter folder: The folder of scripts.
  /// - Throws: ``JobError`` `.invalidJob` if the name is wrong, the file does not exist, or a link leads out of the folder.
  static func path(_ name: String, in folder: String) throws(JobError) -> String {
    try check(name)
    guard let base = resolved(folder) else {
      throw JobError(.invalidJob, "the folder of scripts \(folder) of this worker cannot be read")
    }
    guard let path = resolved("\(folder)/\(name)") else {
      throw JobError(.invalidJob, "the script '\(name)' does not exist in \(folder) of this worker")
    }
    guard path.hasPrefix(base == "/" ? "/" : base + "/") else {
      throw JobError(.invalidJob, "the script '\(name)' is a link that leads out of \(folder)")
    }
    var info = stat()
    guard stat(path, &info) == 0, info.st_mode & S_IFMT == S_IFREG, access(path, R_OK) == 0 else {
      throw JobError(.invalidJob, "the script '\(name)' in \(folder) of this worker is not a readable file")
    }
    return path
  }

  private static func resolved(_ path: String) -> String? {
    guard let text = realpath(path, nil) else { return nil }
    defer { free(text) }
    return String(cString: text)
  }
}
