import Glibc
import JSON

/// The folders whose configuration files may reach outside the folder although other users could have written them.
struct TrustedFolders: Sendable {
  static let variable = "TUREEN_TRUST"
  private let paths: [String]

  /// - Parameter settings: Their folders are trusted in addition to those in the environment.
  /// - Throws: ``HostError`` `.invalidConfiguration` for a path that is not absolute.
  init(_ settings: HostSettings = HostSettings()) throws {
    let named = Environment[Self.variable]?.split(separator: ":").map(String.init) ?? []
    for (source, paths) in [(Self.variable, named), ("trustedFolders", settings.trustedFolders)] {
      guard let relative = paths.first(where: { !$0.hasPrefix("/") }) else { continue }
      throw HostError(.invalidConfiguration, "\(source): '\(relative)' must be an absolute path, such as /srv/sync")
    }
    paths = named + settings.trustedFolders
  }

  /// - Parameter folder: The facts about an open folder, which are the same through any path that leads to it.
  func contains(_ folder: stat) -> Bool {
    paths.contains { path in
      var info = stat()
      return stat(path, &info) == 0 && info.isSameFile(as: folder)
    }
  }
}

/// Why a configuration file may be the work of another user.
///
/// A file is trusted if it and its folder belong to the effective user or to root, and only the owner can write to them. In a
/// folder with the sticky bit, such as /tmp, others can add files, but not replace those of the user.
struct FileDoubt: Sendable, Equatable {
  /// The second half of a sentence, such as "the file belongs to another user (id 1001)".
  let reason: String
  /// The command that removes the doubt.
  let remedy: String

  private init(_ reason: String, _ remedy: String) { (self.reason, self.remedy) = (reason, remedy) }

  /// Looks at a file that is already open, so that it cannot be exchanged between the check and the reading.
  ///
  /// - Parameters:
  ///   - descriptor: The open file.
  ///   - folder: The open folder in which it was found.
  ///   - directory: The path of the folder.
  /// - Returns: Nil if the file is trusted.
  static func of(_ name: String, _ descriptor: Int32, in folder: Int32, _ directory: String) -> FileDoubt? {
    let path = "\(directory)/\(name)"
    var file = stat(), parent = stat(), entry = stat()
    guard fstat(descriptor, &file) == 0, fstat(folder, &parent) == 0,
      fstatat(folder, name, &entry, AT_SYMLINK_NOFOLLOW) == 0
    else { return FileDoubt("the file was changed while it was read", "run the command again") }
    if let doubt = of(directory, parent) ?? of(path, file) { return doubt }
    guard entry.st_mode & S_IFMT == S_IFLNK else { return nil }
    return of(path, entry) ?? ofTarget(path, file)
  }

  /// Looks at the folder of the file that a symbolic link leads to.
  private static func ofTarget(_ path: String, _ file: stat) -> FileDoubt? {
    var target = stat(), parent = stat()
    guard let resolved = realpath(path, nil) else { return changedLink }
    defer { free(resolved) }
    let real = String(cString: resolved), folder = real.lastIndex(of: "/").map { String(real[..<$0]) } ?? ""
    guard stat(real, &target) == 0, target.isSameFile(as: file), stat(folder.isEmpty ? "/" : folder, &parent) == 0 else {
      return changedLink
    }
    return of(folder.isEmpty ? "/" : folder, parent)
  }

  /// Looks at a file below a folder that is trusted, and at the folders on the way.
  /// - Parameter path: Relative, without `..`.
  static func below(_ directory: String, _ path: String) -> FileDoubt? {
    var place = directory
    for part in path.split(separator: "/").dropLast() {
      place += "/" + part
      var info = stat()
      if stat(place, &info) == 0, let doubt = of(place, info) { return doubt }
    }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let folder = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return nil }
    defer { close(folder) }
    let descriptor = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return of(name, descriptor, in: folder, place)
  }

  private static let changedLink = FileDoubt("the symbolic link was changed while it was read", "run the command again")

  private static func of(_ path: String, _ info: stat) -> FileDoubt? {
    let kind = info.st_mode & S_IFMT
    let what = kind == S_IFDIR ? "the folder \(path)" : kind == S_IFLNK ? "the symbolic link" : "the file"
    guard info.st_uid == geteuid() || info.st_uid == 0 else {
      let command = kind == S_IFLNK ? "chown -h" : "chown"
      return FileDoubt("\(what) belongs to another user (id \(info.st_uid))", "\(command) \(geteuid()) \(path)")
    }
    // Everyone can "write" to a symbolic link, which means nothing, and a sticky folder protects the files in it.
    let isProtected = kind == S_IFLNK || (kind == S_IFDIR && info.st_mode & S_ISVTX != 0)
    guard !isProtected, info.st_mode & 0o022 != 0 else { return nil }
    return FileDoubt("\(what) can be written to by others (mode \(PrivateFile.mode(info)))", "chmod go-w \(path)")
  }
}

extension stat {
  fileprivate func isSameFile(as other: stat) -> Bool { st_dev == other.st_dev && st_ino == other.st_ino }
}
