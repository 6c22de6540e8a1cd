import Glibc
import JSON
import Support

/// Stores the files that syncs download for rows, by connection and URL, and remembers URLs without
/// a file. All processes of a home share it; folders have mode 0700, files 0600.
///
/// A file's name is the hash of its URL, so no text from a server becomes part of a path. Next to
/// it, `<hash>.json` describes the file. The description is written last: a file without it does
/// not count.
package struct AssetFolder: Sendable {
  package struct Asset: Sendable, Equatable {
    package let path: String
    /// The `Content-Type` from the server; empty if there was none.
    package let contentType: String
    package let bytes: Int
  }

  /// Why a URL has no file.
  struct Failure: Sendable, Equatable {
    let reason: String
    /// In ms since 1970 UTC.
    let at: Int64
  }

  private let root: String

  /// - Parameter home: The folder of stores and caches.
  package init(home: String) { root = home + "/assets" }

  /// - Parameter connection: Compared ignoring case; nil searches all connections.
  package func find(_ url: String, connection: String?) throws -> Asset? {
    for folder in try connection.map({ [$0.lowercased()] }) ?? connections() {
      if let found = asset(try place(url, folder)) { return found }
    }
    return nil
  }

  /// Returns the sorted names, in lower case, of connections with files.
  package func connections() throws -> [String] { try FileSystem.entries(of: root).sorted() }

  /// Removes the files of one connection or of all, and forgets failed URLs.
  ///
  /// - Returns: The number of files removed.
  package func clear(_ connection: String?) throws -> Int {
    try (connection.map { [$0.lowercased()] } ?? connections()).reduce(0) { count, name in
      let folder = root + "/" + name
      let facts = try FileSystem.entries(of: folder).filter { $0.hasSuffix(".json") }
      let found = facts.count { asset(folder + "/" + $0.dropLast(5)) != nil }
      try FileSystem.removeTree(folder)
      return count + found
    }
  }

  // MARK: Writing

  func has(_ url: String, _ connection: String) throws -> Bool { asset(try place(url, connection.lowercased())) != nil }

  func failure(_ url: String, _ connection: String) throws -> Failure? {
    guard let facts = facts(try place(url, connection.lowercased())), let reason = facts["failed"]?.stringValue,
      let at = facts["at"]?.boundedInteger
    else { return nil }
    return Failure(reason: reason, at: at)
  }

  /// - Throws: `FileError`.
  func store(_ bytes: [UInt8], contentType: String, of url: String, _ connection: String) throws {
    let place = try place(url, connection.lowercased()), ending = AssetFolder.ending(of: contentType)
    try FileSystem.makeDirectory(folder(of: connection))
    try FileSystem.write(bytes, to: place + ending)
    let facts: JSONObject = [
      "ending": .string(ending), "contentType": .string(contentType), "bytes": .integer(Int64(bytes.count)),
    ]
    try FileSystem.write(JSONValue.object(facts).serialized(), to: place + ".json")
  }

  /// - Throws: `FileError`.
  func note(_ failure: Failure, of url: String, _ connection: String) throws {
    try FileSystem.makeDirectory(folder(of: connection))
    let facts: JSONObject = ["failed": .string(failure.reason), "at": .integer(failure.at)]
    try FileSystem.write(JSONValue.object(facts).serialized(), to: try place(url, connection.lowercased()) + ".json")
  }

  // MARK: Parts

  private func folder(of connection: String) -> String { root + "/" + connection.lowercased() }

  private func place(_ url: String, _ folder: String) throws(OpenSSLProblem) -> String {
    root + "/" + folder + "/" + (try Digest.sha256Hex(url).prefix(40))
  }

  private func facts(_ place: String) -> JSONValue? { FileSystem.read(place + ".json").flatMap { try? JSONValue(parsing: $0) } }

  private func asset(_ place: String) -> Asset? {
    guard let facts = facts(place), let ending = facts["ending"]?.stringValue,
      ending.isEmpty || AssetFolder.endings.contains(where: { $0.ending == ending })
    else { return nil }
    var info = stat()
    guard stat(place + ending, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { return nil }
    return Asset(
      path: place + ending, contentType: facts["contentType"]?.stringValue ?? "", bytes: Int(info.st_size))
  }

  /// Image viewers rely on the extension; other types get none.
  private static let endings = [
    (type: "image/png", ending: ".png"), (type: "image/jpeg", ending: ".jpg"), (type: "image/gif", ending: ".gif"),
    (type: "image/webp", ending: ".webp"), (type: "image/svg+xml", ending: ".svg"), (type: "image/avif", ending: ".avif"),
    (type: "application/pdf", ending: ".pdf"), (type: "text/plain", ending: ".txt"),
  ]

  private static func ending(of contentType: String) -> String {
    let type = contentType.prefix { $0 != ";" && $0 != " " }.lowercased()
    return endings.first { $0.type == type }?.ending ?? ""
  }
}
