import Glibc
import JSON
import SmartStore
import Support

/// Puts the stores of a backup into a home, with their names, orgs and users. Blocks.
///
/// All of it arrives or nothing, also if the process is killed. Each file is compared with the digest that the backup has of it.
public struct HomeRestore: Sendable {
  public let home: String
  private let folder: String

  /// - Parameters:
  ///   - folder: The backup.
  ///   - home: Nil for that of the environment. It is created if there is none.
  /// - Throws: ``HostError`` `.invalidConfiguration`.
  public init(from folder: String, home: String?) throws {
    var settings = HostSettings()
    settings.home = home
    settings.fill(from: try .environment())
    self.home = try HostSettings.resolvedHome(settings.home)
    try HostSettings.checkHome(self.home)
    self.folder = HostSettings.absolute(folder)
  }

  /// - Parameter onProgress: Called again and again; what it throws ends the call, and the home is as before.
  /// - Throws: ``HostError`` `.fileNotWritable` if the home has one of the stores, or another org of a name;
  ///   ``SmartStore/StoreError`` `.notADatabase` if the backup is damaged; `FileError`. The home is as before then.
  public func run(onProgress: (HomeBackup.Progress) throws -> Void = { _ in }) throws -> HomeBackup.Result {
    let manifest = try BackupManifest(readingFrom: folder)
    var stores: [String] = [], orgs: [BackupManifest.File] = []
    for file in manifest.files {
      switch BackupPath(file.path) {
      case .org: orgs.append(file)
      case .store(let folder, _): if !stores.contains(folder) { stores.append(folder) }
      case nil: break
      }
    }
    let lock = try HomeLock(home: home)
    try checkStores(stores)
    var change = HomeChange()
    for org in orgs { try add(org, to: &change) }
    let staging = "orgs/\(HomeLock.staging)\(UInt32.random(in: 0 ... .max))"
    do {
      for (i, store) in stores.enumerated() {
        let files = manifest.files.filter { FileSystem.folder(of: $0.path) == store }
        try stage(files, in: "\(home)/\(staging)/\(i)") { share in
          try onProgress(
            HomeBackup.Progress(file: "\(store)/store.sqlite", number: i + 1, count: stores.count, share: share))
        }
        change.move("\(staging)/\(i)", to: store)
      }
      try lock.commit(change, before: { try checkStores(stores) })
    } catch {
      try? FileSystem.removeTree("\(home)/\(staging)")
      throw error
    }
    return HomeBackup.Result(
      stores: stores.count, bytes: manifest.files.map(\.bytes).reduce(0, +), madeAt: manifest.madeAt)
  }

  /// Refuses to replace a store, or to move one to another disk, which would not be done in one step.
  private func checkStores(_ stores: [String]) throws {
    let known = stores.filter { FileSystem.exists("\(home)/\($0)") }
    guard known.isEmpty else {
      let more = known.count > 3 ? " and \(known.count - 3) more" : ""
      throw HostError(
        .fileNotWritable,
        "\(home) has these stores already: \(known.prefix(3).joined(separator: ", "))\(more). Restore to another home, or remove "
          + "them with tureen store remove. Nothing was changed")
    }
    guard let disk = Self.disk(of: "\(home)/orgs") else { return }
    for store in stores where Self.disk(of: "\(home)/\(store)") != disk {
      throw HostError(.fileNotWritable, "\(home)/\(store) would be on another disk than \(home)/orgs. Nothing was changed")
    }
  }

  /// The device of a path, or of the nearest folder above that exists.
  private static func disk(of path: String) -> UInt64? {
    var info = stat(), path = path
    while stat(path, &info) != 0 {
      guard path != "/", path != "." else { return nil }
      path = FileSystem.folder(of: path)
    }
    return UInt64(info.st_dev)
  }

  /// Adds a file about orgs, unless the home has one that agrees.
  private func add(_ file: BackupManifest.File, to change: inout HomeChange) throws {
    var text: [UInt8] = []
    let (bytes, digest) = try DigestedFile.read("\(folder)/\(file.path)") { text += $0 }
    guard bytes == file.bytes, digest == file.digest, let value = try? JSONValue(parsing: text) else { throw damaged(file.path) }
    guard let own = FileSystem.read("\(home)/\(file.path)") else { return change.write(value, to: file.path) }
    // The home keeps its default org.
    guard file.path != "orgs.json" else { return }
    let known = try? JSONValue(parsing: own)
    guard known == value || known?["orgId"] != nil && known?["orgId"] == value["orgId"] else {
      throw HostError(
        .fileNotWritable,
        "\(home)/\(file.path) is about another org than the one of the backup; restore to another home. Nothing was changed")
    }
  }

  /// Copies the files of a store to a folder that no program looks into.
  private func stage(_ files: [BackupManifest.File], in staging: String, onShare: (Double) throws -> Void) throws {
    try FileSystem.makeDirectory(staging)
    let total = files.map(\.bytes).reduce(0, +)
    var done = 0
    for file in files {
      let target = staging + file.path.dropFirst(FileSystem.folder(of: file.path).utf8.count)
      let (bytes, digest) = try DigestedFile.copy("\(folder)/\(file.path)", to: target) { count in
        done += count
        try onShare(Double(done) / Double(max(1, total)))
      }
      guard bytes == file.bytes, digest == file.digest else { throw damaged(file.path) }
    }
    try FileSystem.sync(staging)
  }

  private func damaged(_ path: String) -> StoreError {
    StoreError(.notADatabase, "\(folder)/\(path) is damaged: it is not what was backed up. Nothing was restored")
  }
}
