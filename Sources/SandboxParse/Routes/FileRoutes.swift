import JSON
import SandboxServer

/// Serves uploads and downloads. Bodies are raw bytes here; SDKs send them as text in JSON.
struct FileRoutes {
  let base: String
  let keys: ParseKeys
  let settings: ParseSettings

  // MARK: Reading

  /// Serves a file without requiring keys; nil if the path is not a file's.
  func read(_ request: ServerRequest, _ state: ParseState) -> ServerReply? {
    guard ["GET", "HEAD"].contains(request.method), request.segments.count == 3, request.segments[0].lowercased() == "files"
    else { return nil }
    guard request.segments[1] == keys.applicationId else {
      return .parse(403, ["code": 119, "error": "Invalid application ID."])
    }
    guard let file = state.files[request.segments[2]] else { return .text(404, "File not found.", type: "text/plain") }
    return ServerReply(status: 200, headers: [("Content-Type", file.type), ("Accept-Ranges", "bytes")], body: file.bytes)
  }

  // MARK: Writing

  /// Returns true for the path of an upload or a deletion.
  static func isWrite(_ request: ServerRequest) -> Bool {
    guard request.segments.first?.lowercased() == "files", request.segments.count <= 2 else { return false }
    return request.method == "POST" || request.method == "DELETE"
  }

  /// - Parameter bytes: The decoded content.
  func upload(
    _ name: String, _ given: String?, _ bytes: [UInt8], _ caller: Caller, _ state: inout ParseState
  ) throws(ParseError) -> ServerReply {
    guard settings.enableForPublic || caller.isMaster || caller.userId != nil else {
      throw ParseError(.fileSaveError, "File upload by public is disabled.")
    }
    guard !bytes.isEmpty else { throw ParseError(.fileSaveError, "Invalid file upload.") }
    try Self.check(name)
    let type = given.flatMap { $0.isEmpty ? nil : $0 }
    let known = FileTypes.suffix(of: name)
    if let known, FileTypes.isDisabled(known) || FileTypes.isDisabled(FileTypes.subtype(type)) {
      throw ParseError(
        .fileSaveError, "File upload of extension \(FileTypes.isDisabled(known) ? known : FileTypes.subtype(type)) is disabled.")
    }
    if known == nil, FileTypes.isDisabled(FileTypes.subtype(type)) {
      throw ParseError(.fileSaveError, "File upload of extension \(FileTypes.subtype(type)) is disabled.")
    }
    let suffix = known == nil ? FileTypes.suffix(for: type).map { ".\($0)" } ?? "" : ""
    let stored = "\(state.newHex(32))_\(name)\(suffix)"
    state.files[stored] = .init(type: type ?? FileTypes.type(for: known) ?? "application/octet-stream", bytes: bytes)
    let url = "\(base)/files/\(keys.applicationId)/\(URLText.escaped(stored))"
    return .parse(201, ["url": .string(url), "name": .string(stored)], headers: [("Location", url)])
  }

  /// Checks that a name matches `^[_a-zA-Z0-9][a-zA-Z0-9@. ~_-]*$` and has at most 128 characters.
  private static func check(_ name: String) throws(ParseError) {
    guard !name.isEmpty else { throw ParseError(.invalidFileName, "Filename not provided.") }
    guard name.count <= Tuning.fileNameCharacters else { throw ParseError(.invalidFileName, "Filename too long.") }
    let rest = name.utf8.dropFirst()
    let isFirst = name.utf8.first.map { Names.isLetter($0) || Names.isDigit($0) || $0 == UInt8(ascii: "_") } ?? false
    guard isFirst, rest.allSatisfy({ Names.isLetter($0) || Names.isDigit($0) || "@. ~_-".utf8.contains($0) }) else {
      throw ParseError(.invalidFileName, "Filename contains invalid characters.")
    }
  }

  func delete(_ name: String, _ caller: Caller, _ state: inout ParseState) throws(ParseError) -> ServerReply {
    try caller.requireMaster(toWrite: true)
    guard state.files.removeValue(forKey: name) != nil else {
      throw ParseError(.fileDeleteError, "Could not delete file.")
    }
    return .empty(200)
  }
}

/// File types by suffix.
enum FileTypes {
  private static let types = [
    "txt": "text/plain", "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif",
    "pdf": "application/pdf",
    "json": "application/json", "csv": "text/csv", "html": "text/html", "svg": "image/svg+xml", "xml": "application/xml",
    "mp3": "audio/mpeg", "mp4": "video/mp4", "zip": "application/zip", "bin": "application/octet-stream",
  ]
  /// Types that a browser would execute.
  private static let disabled = ["htm", "html", "shtml", "xhtml", "xhtml+xml", "xht", "svg", "svg+xml", "mht", "mhtml"]

  static func isDisabled(_ suffix: String) -> Bool { disabled.contains(suffix.lowercased()) }

  static func suffix(of name: String) -> String? {
    guard let dot = name.lastIndex(of: "."), name.index(after: dot) < name.endIndex else { return nil }
    return String(name[name.index(after: dot)...])
  }

  static func subtype(_ type: String?) -> String {
    String((type ?? "").prefix { $0 != ";" }.split(separator: "/").last ?? "")
  }

  static func type(for suffix: String?) -> String? { suffix.flatMap { types[$0.lowercased()] } }

  static func suffix(for type: String?) -> String? {
    guard let plain = type?.prefix(while: { $0 != ";" }) else { return nil }
    return types.filter { $0.value == plain }.keys.min { ($0.count, $0) < ($1.count, $1) }
  }
}
