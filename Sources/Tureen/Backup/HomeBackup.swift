import Glibc
import JSON
import SmartStore
import Support

/// Copies all stores of a home with what they need to be used again: their names, and the orgs and users that they belong to.
/// Sessions, credentials, caches and the data of the sandbox org stay behind. Blocks.
///
/// The folder of a backup looks like a home. It gets its name when every copy has been checked; until then, and if the process is
/// killed, it is a hidden folder beside it, which the next backup of that name removes.
public struct HomeBackup: Sendable {
  /// How far a backup or the way back has come.
  public struct Progress: Sendable {
    /// The store's file, relative to the home.
    public let file: String
    /// The number of the store, from 1, and of all.
    public let number: Int, count: Int
    /// The share of the store that is copied, 0 to 1.
    public let share: Double

    /// Such as `store 2 of 3, orgs/acme/ada/stores/main: 40 %`.
    public var text: String {
      "store \(number) of \(count), \(FileSystem.folder(of: file)): \(Int(saturating: (share * 100).rounded(.down))) %"
    }

    public var json: JSONObject {
      [
        "event": "progress", "file": .string(file), "number": .integer(Int64(number)), "count": .integer(Int64(count)),
        "percent": .integer(Int64(saturating: (share * 100).rounded(.down))),
      ]
    }
  }

  public struct Result: Sendable {
    public let stores: Int
    public let bytes: Int64
    /// When the backup was made, in ms since 1970 UTC.
    public let madeAt: Int64
  }

  public let home: String

  /// - Parameter home: Nil for that of the environment.
  /// - Throws: ``HostError`` `.invalidConfiguration`, `.unsupported` if stores are in a database.
  public init(home: String?) throws {
    var settings = HostSettings()
    settings.home = home
    settings.fill(from: try .environment())
    self.home = try HostSettings.resolvedHome(settings.home)
    try HostSettings.checkHomeToLook(self.home)
    if let database = settings.store {
      throw HostError(
        .unsupported,
        "stores are in \(database), and only stores in files can be backed up; back the database up with pg_dump. To back up the "
          + "files of the home, unset TUREEN_STORE")
    }
  }

  /// - Parameters:
  ///   - folder: The backup, which must not exist.
  ///   - onProgress: Called again and again; what it throws ends the backup, and nothing of it stays.
  /// - Throws: ``HostError`` `.fileNotWritable`; ``SmartStore/StoreError`` about a store, as `.keyRequired`. Then there is no
  ///   backup.
  public func run(to folder: String, onProgress: (Progress) throws -> Void = { _ in }) throws -> Result {
    let folder = HostSettings.absolute(folder), key = try StoreKeySource.current()?.read()
    try check(folder)
    // An unfinished change of the orgs by a killed process is finished first.
    if HomeLock.isUnfinished(home) { _ = try HomeLock(home: home) }
    let stores = try stores()
    guard !stores.isEmpty else { throw StoreError(.cannotOpenStore, "there are no stores in \(home)") }
    let staging = try StagingFolder(for: folder)
    do {
      var files = try orgFiles().map { try copy($0, to: staging.path) }
      for (i, store) in stores.enumerated() {
        files += try copy(store, to: staging.path, key: key) { done, total in
          try onProgress(
            Progress(
              file: "\(store)/store.sqlite", number: i + 1, count: stores.count, share: Double(done) / Double(max(1, total))))
        }
      }
      let manifest = BackupManifest(madeAt: SystemClock.millisecondsSince1970(), files: files)
      try FileSystem.write(manifest.json.serialized() + [UInt8(ascii: "\n")], to: "\(staging.path)/\(BackupManifest.fileName)")
      try FileSystem.sync("\(staging.path)/\(BackupManifest.fileName)")
      try staging.publish()
      return Result(stores: stores.count, bytes: files.map(\.bytes).reduce(0, +), madeAt: manifest.madeAt)
    } catch {
      staging.remove()
      throw error
    }
  }

  private func check(_ folder: String) throws {
    guard !FileSystem.exists(folder) else {
      throw HostError(.fileNotWritable, "\(folder) exists already; give the backup a name of its own")
    }
    let parent = FileSystem.folder(of: folder)
    guard let real = realpath(parent, nil), let own = realpath(home, nil) else {
      guard FileSystem.exists(parent) else { throw HostError(.fileNotWritable, "there is no folder \(parent) for the backup") }
      throw StoreError(.cannotOpenStore, "there are no stores in \(home)")
    }
    defer {
      free(real)
      free(own)
    }
    let (parentPath, homePath) = (String(cString: real), String(cString: own))
    guard parentPath != homePath, !parentPath.hasPrefix(homePath + "/") else {
      throw HostError(
        .fileNotWritable, "\(folder) is in the home that it saves, and would be lost with it; choose another folder")
    }
  }

  /// Returns the folders of the stores, relative to the home, sorted. Unfinished copies of stores are left out.
  private func stores() throws -> [String] {
    var parents = ["global/stores"]
    for org in try names(in: "orgs") { for user in try names(in: "orgs/\(org)") { parents.append("orgs/\(org)/\(user)/stores") } }
    let stores = try parents.flatMap { parent in try names(in: parent).map { "\(parent)/\($0)" } }
    return stores.filter { store in
      FileSystem.exists("\(home)/\(store)/store.sqlite") && !FileSystem.exists("\(home)/\(store)/name.unfinished")
    }.sorted()
  }

  /// Returns the names of folders; those that begin with a dot are being removed or made.
  private func names(in folder: String) throws -> [String] {
    let names = try FileSystem.entries(of: "\(home)/\(folder)").filter { !$0.hasPrefix(".") }
    for name in names { try FileSystem.checkSearchable("\(home)/\(folder)/\(name)") }
    return names.filter { FileSystem.exists("\(home)/\(folder)/\($0)/.") }
  }

  private func orgFiles() throws -> [String] {
    let all = try ["orgs.json"] + names(in: "orgs").map { "orgs/\($0)/org.json" }
    return all.filter { FileSystem.exists("\(home)/\($0)") }
  }

  private func copy(_ path: String, to folder: String) throws -> BackupManifest.File {
    try FileSystem.makeDirectory(FileSystem.folder(of: "\(folder)/\(path)"))
    let (bytes, digest) = try DigestedFile.copy("\(home)/\(path)", to: "\(folder)/\(path)")
    return BackupManifest.File(path: path, bytes: bytes, digest: digest)
  }

  private func copy(
    _ store: String, to folder: String, key: StoreKey?, onStep: (Int64, Int64) throws -> Void
  ) throws -> [BackupManifest.File] {
    try FileSystem.makeDirectory("\(folder)/\(store)")
    let name = "\(store)/name", file = "\(store)/store.sqlite"
    // A store whose file was put back from a copy has no file with its name.
    let text =
      FileSystem.read("\(home)/\(name)")
      ?? StoreRegistry.name(
        ofFolder: String(store[(store.lastIndex(of: "/").map { store.index(after: $0) } ?? store.startIndex)...])
      )
      .map { Array($0.utf8) }
    guard let text else { throw StoreError(.cannotOpenStore, "the name of the store in \(home)/\(store) cannot be read") }
    try FileSystem.write(text, to: "\(folder)/\(name)")
    try StoreFileBackup.copy("\(home)/\(file)", to: "\(folder)/\(file)", key: key, onStep: onStep)
    return try [name, file].map { path in
      let (bytes, digest) = try DigestedFile.read("\(folder)/\(path)")
      return BackupManifest.File(path: path, bytes: bytes, digest: digest)
    }
  }
}

/// A folder that is hidden until it is complete. A lock tells it from one that a killed process has left.
final class StagingFolder {
  let path: String
  private let target: String
  private let lock: FolderLock?

  init(for target: String) throws {
    self.target = target
    let parent = FileSystem.folder(of: target), name = target.split(separator: "/").last.map(String.init) ?? ""
    let mark = ".unfinished-"
    // Backups may have a name of their own each time, so those of other names are removed as well.
    for left in try FileSystem.entries(of: parent) where left.hasPrefix(".") && Self.isStaging(left, mark) {
      if case .locked = FolderLock.take(.exclusive, folderOf: "\(parent)/\(left)/x") {
        try? FileSystem.removeTree("\(parent)/\(left)")
      }
    }
    path = "\(parent)/.\(name)\(mark)\(ProcessIdentity.current.pid)-\(UInt32.random(in: 0 ... .max))"
    try FileSystem.makeDirectory(path)
    if case .locked(let taken) = FolderLock.take(.exclusive, folderOf: path + "/x") { lock = taken } else { lock = nil }
  }

  /// Whether a name ends in the mark, a process id and a random number.
  private static func isStaging(_ name: String, _ mark: String) -> Bool {
    guard let range = name.firstRange(ofASCII: mark) else { return false }
    let numbers = name[range.upperBound...].split(separator: "-", omittingEmptySubsequences: false)
    return numbers.count == 2 && numbers.allSatisfy { UInt32($0) != nil }
  }

  /// Gives the folder its name; the change has reached the disk when this returns.
  func publish() throws {
    try syncFolders(path)
    guard !FileSystem.exists(target) else { throw HostError(.fileNotWritable, "\(target) was created meanwhile") }
    try FileSystem.move(path, to: target)
    try FileSystem.sync(FileSystem.folder(of: target))
  }

  private func syncFolders(_ path: String) throws {
    for name in try FileSystem.entries(of: path) where FileSystem.exists("\(path)/\(name)/.") {
      try syncFolders("\(path)/\(name)")
    }
    try FileSystem.sync(path)
  }

  func remove() { try? FileSystem.removeTree(path) }
}
