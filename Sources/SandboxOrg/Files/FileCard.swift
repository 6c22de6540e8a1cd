import Database
import JSON

/// Describes files for lists and details.
struct FileCard {
  struct Version {
    let id: String, title: String, ending: String, number: String
    var kind: FileKind { FileKind.of(ending) }
  }

  let call: Call

  init(_ call: Call) { self.call = call }

  /// Resolves a file in a URL: the id of a document or of one of its versions.
  ///
  /// - Throws: 404 for any other id and for deleted files.
  func document(_ text: String) throws -> String {
    guard let id = RecordID.normalized(text) else { throw SandboxError.notFound() }
    let found = try call.org.connection.firstValue(
      "SELECT d.Id FROM ContentDocument d WHERE d.IsDeleted = 0 AND (d.Id = ?1 OR d.Id = "
        + "(SELECT v.ContentDocumentId FROM ContentVersion v WHERE v.Id = ?1 AND v.IsDeleted = 0))", [.text(id)])
    guard case .text(let document)? = found else { throw SandboxError.notFound() }
    return document
  }

  /// - Parameter number: nil for the newest version.
  /// - Throws: 404 if there is no such version.
  func version(of document: String, number: Int?) throws -> Version {
    let row = try call.org.connection.statement(
      "SELECT Id, Title, FileExtension, VersionNumber FROM ContentVersion WHERE ContentDocumentId = ?1 AND IsDeleted = 0 "
        + "AND CASE WHEN ?2 IS NULL THEN IsLatest = 1 ELSE VersionNumber = ?2 END")
    try row.bind([.text(document), number.map { .text(String($0)) } ?? .null])
    defer { row.reset() }
    guard try row.step() else { throw SandboxError.notFound() }
    return Version(id: row.string(0), title: row.string(1), ending: row.string(2), number: row.string(3))
  }

  /// Describes the newest version of the file with this id.
  func found(_ id: String) throws(SandboxError) -> JSONValue {
    do {
      return try json(try document(id), version: nil)
    } catch {
      throw error as? SandboxError ?? .unknown("\(error)")
    }
  }

  func json(_ document: String, version number: Int?) throws -> JSONValue {
    let version = try version(of: document, number: number)
    let object = try call.org.object("ContentVersion")
    let fields = ["Description", "ContentSize", "Checksum", "FileType", "CreatedDate", "LastModifiedDate"]
    guard let text = try call.reader.records([version.id], of: object, fields: fields, version: call.version)[0],
      let row = try JSONValue(parsing: text).objectValue,
      case .text(let owner)? = try call.org.connection.firstValue(
        "SELECT OwnerId FROM ContentDocument WHERE Id = ?", [.text(document)])
    else { throw SandboxError.notFound() }
    var card: JSONObject = [
      "id": .string(document), "versionId": .string(version.id), "title": .string(version.title),
      "name": .string(version.title), "versionNumber": .string(version.number),
      "mimeType": .string(version.kind.mediaType), "owner": try ConnectRoutes.card(of: owner, call),
      "sharingRole": .string(owner == call.userId ? "OWNER" : "VIEWER"),
    ]
    card["fileExtension"] = version.ending.isEmpty ? .null : .string(version.ending)
    for (key, field) in [
      ("description", "Description"), ("contentSize", "ContentSize"), ("checksum", "Checksum"), ("fileType", "FileType"),
    ] { card[key] = row[field] ?? .null }
    for (key, field) in [
      ("createdDate", "CreatedDate"), ("contentModifiedDate", "CreatedDate"), ("modifiedDate", "LastModifiedDate"),
    ] { card[key] = Self.moment(row[field]) }
    addURLs(of: document, version, to: &card)
    for (key, value) in Self.constants { card[key] = value }
    return .object(card)
  }

  /// Adds the URLs of the file and its renditions.
  private func addURLs(of document: String, _ version: Version, to card: inout JSONObject) {
    let url = "\(root)/\(document)"
    card["url"] = .string(url)
    card["downloadUrl"] = .string("\(url)/content?versionNumber=\(version.number)")
    let thumbnail = version.kind.isImage ? "Success" : "Na"
    for (ending, size) in [("", "120By90"), ("240By180", "240By180"), ("720By480", "720By480")] {
      card["renditionUrl\(ending)"] = .string("\(url)/rendition?type=THUMB\(size.uppercased())")
      card["thumb\(size)RenditionStatus"] = .string(thumbnail)
    }
    card["pdfRenditionStatus"] = .string(version.kind.type == "PDF" ? "Success" : "Na")
    card["flashRenditionStatus"] = "Na"
  }

  /// Members that are the same for every file.
  private static let constants: JSONObject = [
    "origin": "CHATTER", "publishStatus": "PUBLISHED", "sharingOption": "ALLOWED", "isInMyFileSync": false,
    "isMajorVersion": true, "contentHubRepository": nil, "contentUrl": nil, "externalDocumentUrl": nil,
    "repositoryFileId": nil, "moderationFlags": nil, "textPreview": nil,
  ]

  /// Where the files of this request's community are.
  private var root: String {
    let community = call.parameter("community")
    return call.dataRoot + (community.isEmpty ? "/connect/files" : "/connect/communities/\(community)/files")
  }

  /// Returns `2026-01-01T00:00:00.000Z`: these resources omit the digits of the time zone.
  private static func moment(_ value: JSONValue?) -> JSONValue {
    guard let text = value?.stringValue else { return .null }
    return .string(text.hasSuffix("+0000") ? text.dropLast(5) + "Z" : text)
  }
}
