import JSON
import RestClient
import Support

/// A file that is not on the server yet: a File value with its content, such as
/// `{"__type":"File","name":"a.jpg","base64":"…"}`.
struct PendingFile: Sendable, Equatable {
  let name: String
  let contentType: String
  let bytes: [UInt8]
  /// Identifies the name, type and content.
  let digest: String

  /// Fails, with nil, for any other value, including a file on the server.
  ///
  /// - Throws: ``ParseProblem`` for a name that the server would reject, and for invalid content; `OpenSSLProblem`.
  init?(_ value: JSONValue) throws {
    guard Self.isOne(value) else { return nil }
    guard let name = value["name"]?.stringValue, Self.isName(name) else {
      throw ParseProblem(
        description: "file name \(value["name"]?.text ?? "''") is not valid: use up to \(Tuning.fileNameCharacters) letters, "
          + "digits, blanks and '@', '.', '~', '_', '-'; the first is a letter, a digit or '_'")
    }
    guard let text = value["base64"]?.stringValue, let bytes = Base64.decode(text), !bytes.isEmpty else {
      throw ParseProblem(description: "file '\(name)' cannot be sent: its 'base64' is empty or not valid Base64")
    }
    let given = value["contentType"]
    guard given == nil || given?.isNull == true || given?.stringValue.map(Self.isType) == true else {
      throw ParseProblem(description: "file '\(name)' cannot be sent: its 'contentType' must be a type such as image/jpeg")
    }
    self.name = name
    self.bytes = bytes
    contentType = given?.stringValue ?? Self.type(of: name)
    digest = try Digest.sha256Hex([name, contentType, text].joined(separator: "\n"))
  }

  /// Whether a value is or contains such a file.
  static func isIn(_ value: JSONValue) -> Bool {
    switch value {
    case .array(let items): items.contains { isIn($0) }
    case .object(let members): isOne(value) || members.contains { isIn($0.value) }
    default: false
    }
  }

  /// Returns the value with each such file replaced by the result of `upload`.
  static func replaced(
    in value: JSONValue, by upload: (PendingFile) async throws -> JSONValue
  ) async throws -> JSONValue {
    if let file = try PendingFile(value) { return try await upload(file) }
    switch value {
    case .array(let items):
      var all: [JSONValue] = []
      for item in items { all.append(try await replaced(in: item, by: upload)) }
      return .array(all)
    case .object(let members):
      var all = JSONObject()
      for (key, member) in members { all[key] = try await replaced(in: member, by: upload) }
      return .object(all)
    default: return value
    }
  }

  private static func isOne(_ value: JSONValue) -> Bool { value["__type"] == "File" && value["base64"] != nil }

  /// `^[_a-zA-Z0-9][a-zA-Z0-9@. ~_-]*$`
  private static func isName(_ name: String) -> Bool {
    func isPlain(_ byte: UInt8) -> Bool { byte.isASCIILetter || byte.isASCIIDigit || byte == UInt8(ascii: "_") }
    guard let first = name.utf8.first, isPlain(first), name.utf8.count <= Tuning.fileNameCharacters else { return false }
    return name.utf8.allSatisfy { isPlain($0) || "@. ~-".utf8.contains($0) }
  }

  private static func isType(_ text: String) -> Bool {
    text.contains("/") && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f || $0 == UInt8(ascii: " ") }
  }

  private static let types = [
    "txt": "text/plain", "csv": "text/csv", "json": "application/json", "pdf": "application/pdf", "zip": "application/zip",
    "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "gif": "image/gif", "webp": "image/webp",
    "mp3": "audio/mpeg", "mp4": "video/mp4",
  ]

  private static func type(of name: String) -> String {
    let ending = name.split(separator: ".").last.map { $0.lowercased() } ?? ""
    return types[ending] ?? "application/octet-stream"
  }
}

extension ParseExchange {
  /// Uploads a file.
  ///
  /// - Returns: The value to store in a column.
  func upload(_ file: PendingFile) async throws -> JSONValue {
    // Repeating an upload after a lost response may leave a file that no object refers to, which is
    // better than a record that cannot be sent.
    let request = RestRequest(
      .POST, "/files/" + PercentEncoding.encode(file.name), body: file.bytes, contentType: file.contentType, isRepeatable: true)
    let response = try await send(request, as: .upload)
    let answer = try response.response.json()
    guard let name = answer["name"]?.stringValue else {
      throw response.response.invalidBody("the response to the upload of a file has no 'name'")
    }
    return TypedValue.file(name: name, url: answer["url"]?.stringValue).json
  }
}
