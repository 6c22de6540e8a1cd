import Database
import JSON
import Support

extension SQLiteEngine {
  var supportsFullText: Bool { true }

  /// The files with the store's name: of a store, and of an unfinished copy, which is not listed as a store.
  static let nameFile = "name", unfinishedNameFile = "name.unfinished"

  func finishCopy() throws {
    let folder = FileSystem.folder(of: path)
    // If the process ends in between, the store is listed, and opening it says that it is unfinished.
    try StoreError.wrappingFileErrors {
      let unfinished = "\(folder)/\(Self.unfinishedNameFile)"
      if FileSystem.exists(unfinished) { try FileSystem.replace("\(folder)/\(Self.nameFile)", with: unfinished) }
    }
    try writeBlocking(.synced) { transaction in
      let connection = transaction.connection
      guard try connection.firstValue("PRAGMA user_version") == .integer(Schema.unfinishedVersion) else {
        throw StoreError.copyEnded
      }
      try connection.execute("DROP TABLE copy_of")
      try connection.execute("PRAGMA user_version = \(Schema.version)")
    }
  }
}

extension Schema {
  /// Unfinished copies have a version that no build opens as a store: older ones take it for a newer
  /// schema.
  static let unfinished: Int64 = 1_000_000
  static let unfinishedVersion = unfinished + version

  /// Makes a new, empty file an unfinished copy.
  static func beginCopy(_ connection: Connection, of source: String) throws {
    try connection.transaction(.immediate) {
      try connection.execute("CREATE TABLE copy_of (source TEXT NOT NULL)")
      try connection.run("INSERT INTO copy_of (source) VALUES (?)", [.text(source)])
      try connection.execute("PRAGMA user_version = \(unfinishedVersion)")
    }
  }

  /// Returns the source of an unfinished copy; nil if the file is a store.
  static func copySource(_ connection: Connection) throws -> String? {
    guard try current(connection) >= unfinished else { return nil }
    guard case .text(let source)? = try connection.firstValue("SELECT source FROM copy_of") else { return "" }
    return source
  }

  /// Checks that the file is an unfinished copy of a source, made by this version.
  static func checkCopy(_ connection: Connection, path: String, of source: String) throws {
    let found = try current(connection)
    guard found >= unfinished else { throw StoreError.storeExists(path) }
    guard found == unfinishedVersion else { throw StoreError.copyOfOtherVersion(path) }
    let original = try copySource(connection) ?? ""
    guard original.hasSameBytes(as: source) else { throw StoreError.copyOfAnother(path, of: original) }
  }
}
