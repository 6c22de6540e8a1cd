import Glibc
import JSON
import MobileSync
import SmartStore
import Support

/// Checks the files of a home: who may read them, whether they can be written, and whether there is room. Changes modes and
/// removes leftovers only if asked.
struct HomeCheckup {
  let home: String
  /// Whether to mend what can be mended without touching data.
  let fixes: Bool

  /// Free space that a home needs: a change of key or a backup copies the largest store.
  private static let roomForCopies: Int64 = 2

  private static let networkFileSystems: Set<String> = [
    "nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "fuse.s3fs", "fuse.gcsfuse", "fuse.rclone", "afs", "9p", "ceph",
    "glusterfs",
  ]

  func checks() -> [HealthCheck] {
    var info = stat()
    guard stat(home, &info) == 0 else {
      let why = String(cString: strerror(errno))
      return errno == ENOENT
        ? [HealthCheck("home", .note, "\(home) does not exist yet; the first sync or script creates it")]
        : [HealthCheck("home", .fail, "\(home) cannot be read: \(why)", fix: "run as its owner")]
    }
    var checks = [rights(info)] + secrets() + [writing(), fileSystem(), room()].compactMap(\.self) + leftovers()
    if checks.allSatisfy({ $0.status == .ok }) { checks = [HealthCheck("home", .ok, "\(home) is private and can be written")] }
    return checks
  }

  private func rights(_ info: stat) -> HealthCheck {
    guard info.st_uid == geteuid() || info.st_uid == 0 else {
      return HealthCheck(
        "home", .fail, "\(home) belongs to another user (id \(info.st_uid))", fix: "run as that user, or choose another --home")
    }
    guard info.st_mode & 0o077 != 0 else { return HealthCheck("home", .ok, "\(home) is private") }
    let fix = "chmod 700 \(home)", text = "\(home) is open to other users (mode \(PrivateFile.mode(info)))"
    if fixes, chmod(home, 0o700) == 0 { return mended(text, fix) }
    return HealthCheck("home", info.st_mode & 0o022 != 0 ? .fail : .warn, text, fix: fix)
  }

  /// Sessions and credentials that other users can read.
  private func secrets() -> [HealthCheck] {
    var found: [HealthCheck] = []
    for path in users().flatMap({ user in ["session.json", "credentials.json"].map { "\(user)/\($0)" } }) {
      var info = stat()
      guard stat(path, &info) == 0, info.st_mode & 0o077 != 0 else { continue }
      let fix = "chmod 600 \(path)", text = "\(path) can be read by other users (mode \(PrivateFile.mode(info)))"
      found.append(fixes && chmod(path, 0o600) == 0 ? mended(text, fix) : HealthCheck("home", .fail, text, fix: fix))
    }
    return found
  }

  private func writing() -> HealthCheck? {
    guard access(home, W_OK) != 0 else { return nil }
    return HealthCheck(
      "home", .fail, "\(home) cannot be written: \(String(cString: strerror(errno))); it can only be looked at",
      fix: "make it writable for its owner, or choose another --home")
  }

  private func fileSystem() -> HealthCheck? {
    var info = stat()
    guard stat(home, &info) == 0, let table = FileSystem.read("/proc/self/mountinfo"),
      let name = Self.fileSystem(of: UInt64(info.st_dev), in: String(decoding: table, as: UTF8.self)),
      Self.networkFileSystems.contains(name)
    else { return nil }
    return HealthCheck(
      "home", .warn, "\(home) is on a network file system (\(name)), whose locks SQLite cannot trust",
      fix: "keep the home on a disk of this machine", ["fileSystem": .string(name)])
  }

  /// Returns the type of the file system on a device.
  /// - Note: Source: Linux, `proc_pid_mountinfo(5)`; the numbers of a device as in glibc's `gnu_dev_major`.
  static func fileSystem(of device: UInt64, in table: String) -> String? {
    let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF, minor = device & 0xFF | (device >> 12) & ~0xFF
    for line in table.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.count > 2, words[2] == "\(major):\(minor)", let mark = words.firstIndex(of: "-"), mark + 1 < words.count else {
        continue
      }
      return String(words[mark + 1])
    }
    return nil
  }

  private func room() -> HealthCheck? {
    var info = statvfs()
    guard statvfs(home, &info) == 0 else { return nil }
    let free = Int64(clamping: UInt64(info.f_bavail) * UInt64(info.f_frsize))
    let largest = ((try? HomeStores(home: home).files()) ?? []).map(Self.size).max() ?? 0
    guard free < largest * Self.roomForCopies else { return nil }
    return HealthCheck(
      "home", .warn, "the disk has \(free) bytes left, less than twice the largest store (\(largest) bytes)",
      fix: "free space, before a change of key, a backup or a migration needs it",
      ["free": .integer(free), "largestStore": .integer(largest)])
  }

  private static func size(_ path: String) -> Int64 {
    var info = stat()
    return stat(path, &info) == 0 ? Int64(info.st_size) : 0
  }

  /// Stores whose removal was interrupted, and unfinished copies.
  private func leftovers() -> [HealthCheck] {
    var found: [HealthCheck] = []
    for folder in users().map({ $0 + "/stores" }) + [home + "/global/stores"] {
      for name in (try? FileSystem.entries(of: folder)) ?? [] {
        let path = "\(folder)/\(name)"
        if name.hasPrefix(".removed-") {
          let text = "\(path) is what is left of a removed store", fix = "rm -r \(path)"
          let isGone = fixes && (try? FileSystem.removeTree(path)) != nil
          found.append(isGone ? mended(text, fix) : HealthCheck("home", .note, text, fix: fix))
        } else if FileSystem.exists("\(path)/name.unfinished") {
          found.append(
            HealthCheck(
              "home", .note, "\(path) is an unfinished copy", fix: "run tureen store copy again, or tureen store remove"))
        }
      }
    }
    return found
  }

  private func mended(_ text: String, _ fix: String) -> HealthCheck {
    HealthCheck("home", .note, "\(text); mended: \(fix)", ["mended": true])
  }

  /// The folders of all users.
  private func users() -> [String] {
    let orgs = ((try? FileSystem.entries(of: home + "/orgs")) ?? []).filter { !$0.hasPrefix(".") }
    return orgs.flatMap { org in
      ((try? FileSystem.entries(of: "\(home)/orgs/\(org)")) ?? []).filter { !$0.hasPrefix(".") }.map {
        "\(home)/orgs/\(org)/\($0)"
      }
    }.filter { FileSystem.exists($0 + "/.") }.sorted()
  }
}
