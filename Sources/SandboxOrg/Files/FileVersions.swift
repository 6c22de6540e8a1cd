import Database
import JSON
import Support

/// Maintains what depends on a file version: metadata computed from its bytes, the document that
/// owns all versions, and shares.
///
/// Source: Salesforce, "ContentVersion": the first version creates its document and a share of type
/// `I` for the owner; `FirstPublishLocationId` gets a share of type `V`; a version with a
/// `ContentDocumentId` becomes that document's next version.
struct FileVersions {
  let writer: RecordWriter

  private var org: Org { writer.org }
  private var connection: Connection { org.connection }
  private func named(_ name: String) throws(SandboxError) -> ObjectSchema { try org.object(name) }

  // MARK: A new version

  /// Sets the fields that follow from the file name and the bytes. Called before the row is
  /// checked.
  func describe(_ values: inout [String: SQLValue], _ bytes: ArraySlice<UInt8>?) throws {
    if case .text(let path)? = values["PathOnClient"] {
      let name = FileName(path)
      if values["Title"] ?? .null == .null { values["Title"] = .text(String(name.title.prefix(Tuning.fileTitleCharacters))) }
      values["FileExtension"] = name.ending.isEmpty ? .null : .text(name.ending)
      values["FileType"] = .text(FileKind.of(name.ending).type)
    }
    guard let bytes else { return }
    values["ContentSize"] = .integer(Int64(bytes.count))
    values["Checksum"] = .text(Digest.hex(try Digest.md5(bytes)))
  }

  /// Finds or creates the version's document and assigns the version number. In the transaction of
  /// the insert.
  ///
  /// - Returns: True if the document is new.
  func place(_ values: inout [String: SQLValue]) throws -> Bool {
    values["IsLatest"] = .integer(1)
    guard case .text(let document)? = values["ContentDocumentId"] else {
      values["ContentDocumentId"] = .text(try makeDocument(values))
      values["VersionNumber"] = .text("1")
      return true
    }
    let newest = try connection.firstValue(
      "SELECT max(CAST(VersionNumber AS INTEGER)) FROM ContentVersion WHERE ContentDocumentId = ?", [.text(document)])
    var number: Int64 = 0
    if case .integer(let known)? = newest { number = known }
    values["VersionNumber"] = .text(String(number + 1))
    try connection.run(
      "UPDATE ContentVersion SET IsLatest = 0, SystemModstamp = ? WHERE ContentDocumentId = ? AND IsLatest = 1",
      [.text(Timestamp.text(org.stamp())), .text(document)])
    return false
  }

  private func makeDocument(_ values: [String: SQLValue]) throws -> String {
    var body: JSONObject = [:]
    for name in ["Title", "Description", "FileType", "FileExtension", "OwnerId"] {
      if case .text(let text)? = values[name] { body[name] = .string(text) }
    }
    var system = RecordWriter(org: org, userId: writer.userId)
    system.isSystem = true
    return try system.create(try named("ContentDocument"), body)
  }

  /// Updates the document to its newest version and shares it.
  func publish(_ id: String, _ values: [String: SQLValue], isNewDocument: Bool) throws {
    guard case .text(let document)? = values["ContentDocumentId"] else { return }
    try connection.run(
      "UPDATE ContentDocument SET LatestPublishedVersionId = ?1, ContentSize = ?2, FileType = ?3, FileExtension = ?4 "
        + "WHERE Id = ?5",
      [
        .text(id), values["ContentSize"] ?? .null, values["FileType"] ?? .null, values["FileExtension"] ?? .null,
        .text(document),
      ])
    try follow(document, title: values["Title"], description: values["Description"])
    if isNewDocument, case .text(let owner)? = values["OwnerId"] { try share(document, with: owner, "I") }
    if case .text(let place)? = values["FirstPublishLocationId"] { try share(document, with: place, "V") }
  }

  private func share(_ document: String, with entity: String, _ type: String) throws {
    guard try FileShares(org: org).link(document, entity) == nil else { return }
    var system = RecordWriter(org: org, userId: writer.userId)
    system.isSystem = true
    _ = try system.create(
      try named("ContentDocumentLink"),
      ["ContentDocumentId": .string(document), "LinkedEntityId": .string(entity), "ShareType": .string(type)])
  }

  // MARK: Changes

  /// Copies the title and description of an updated version to its document.
  func updatedVersion(_ id: String, _ values: [String: SQLValue]) throws {
    guard values["Title"] != nil || values["Description"] != nil,
      case .text(let document)? = try connection.firstValue(
        "SELECT ContentDocumentId FROM ContentVersion WHERE Id = ? AND IsLatest = 1", [.text(id)])
    else { return }
    try follow(document, title: values["Title"], description: values["Description"])
  }

  /// Copies the title and description of an updated document to its newest version.
  func updatedDocument(_ id: String, _ values: [String: SQLValue]) throws {
    for name in ["Title", "Description"] {
      guard let value = values[name] else { continue }
      try connection.run(
        "UPDATE ContentVersion SET \"\(name)\" = ?1, LastModifiedDate = ?2, SystemModstamp = ?2, LastModifiedById = ?3 "
          + "WHERE ContentDocumentId = ?4 AND IsLatest = 1",
        [value, .text(Timestamp.text(org.stamp())), .text(writer.userId), .text(id)])
    }
  }

  private func follow(_ document: String, title: SQLValue?, description: SQLValue?) throws {
    try connection.run(
      "UPDATE ContentDocument SET Title = coalesce(?1, Title), Description = coalesce(?2, Description), "
        + "LastModifiedDate = ?3, SystemModstamp = ?3, LastModifiedById = ?4 WHERE Id = ?5",
      [
        title ?? .null, description ?? .null, .text(Timestamp.text(org.stamp())), .text(writer.userId), .text(document),
      ])
  }
}

/// The shares of files, which are rows of `ContentDocumentLink`.
struct FileShares {
  let org: Org

  /// Returns the share of a document with a user or record, if any.
  func link(_ document: String, _ entity: String) throws -> String? {
    let found = try org.connection.firstValue(
      "SELECT Id FROM ContentDocumentLink WHERE ContentDocumentId = ? AND LinkedEntityId = ? AND IsDeleted = 0",
      [.text(document), .text(entity)])
    guard case .text(let id)? = found else { return nil }
    return id
  }

  /// - Throws: ``SandboxError`` `DUPLICATE_VALUE` if the share already exists.
  func checkNew(_ values: [String: SQLValue]) throws {
    guard case .text(let document)? = values["ContentDocumentId"], case .text(let entity)? = values["LinkedEntityId"],
      try link(document, entity) != nil
    else { return }
    throw SandboxError(
      status: 400, code: "DUPLICATE_VALUE",
      message: "Document with ID: \(document) is already linked with the entity with ID: \(entity)", fields: ["LinkedEntityId"])
  }

  /// - Throws: ``SandboxError`` `FIELD_INTEGRITY_EXCEPTION` for the share of the file's owner,
  ///   which is only deleted with the file.
  func checkDelete(_ id: String) throws {
    let owners = try org.connection.firstValue(
      "SELECT 1 FROM ContentDocumentLink l JOIN ContentDocument d ON d.Id = l.ContentDocumentId "
        + "WHERE l.Id = ? AND l.LinkedEntityId = d.OwnerId AND l.ShareType = 'I' AND d.IsDeleted = 0", [.text(id)])
    guard owners == nil else {
      throw SandboxError(
        status: 400, code: "FIELD_INTEGRITY_EXCEPTION",
        message: "field integrity exception: the share of a file with its owner cannot be deleted", fields: [])
    }
  }
}
