import Database
import JSON

/// Pages of files and of shares, counted from 0.
struct FileList {
  enum Filter { case owned, inGroups, shared }

  private let call: Call
  private let page: Int, size: Int

  /// - Throws: 400 if `page` or `pageSize` is out of range.
  init(_ call: Call) throws(SandboxError) {
    self.call = call
    page = try Self.number("page", call, standard: 0, 0...Tuning.filePages)
    size = try Self.number("pageSize", call, standard: Tuning.filesPerPage, 1...Tuning.filesPerBatch)
  }

  /// Returns files, newest first.
  func files(_ filter: Filter) throws -> JSONValue {
    let user = try Self.user(call)
    let condition: String
    switch filter {
    case .owned: condition = "d.OwnerId = ?1"
    case .shared:
      condition =
        "d.OwnerId <> ?1 AND EXISTS (SELECT 1 FROM ContentDocumentLink l WHERE l.ContentDocumentId = d.Id "
        + "AND l.IsDeleted = 0 AND l.LinkedEntityId = ?1)"
    case .inGroups:
      // Every user belongs to every group: the sandbox has no group members.
      condition =
        "?1 <> '' AND EXISTS (SELECT 1 FROM ContentDocumentLink l JOIN \"Group\" g ON g.Id = l.LinkedEntityId "
        + "WHERE l.ContentDocumentId = d.Id AND l.IsDeleted = 0 AND g.IsDeleted = 0 AND g.Type <> 'Queue')"
    }
    let (ids, hasMore) = try rows(
      "SELECT d.Id FROM ContentDocument d WHERE d.IsDeleted = 0 AND \(condition) ORDER BY d.LastModifiedDate DESC, "
        + "d.rowid DESC", [.text(user)])
    let cards = FileCard(call)
    return result("files", try ids.map { try cards.json($0[0], version: nil) }, hasMore)
  }

  /// Returns the shares of a file, the owner's first.
  func shares(of document: String) throws -> JSONValue {
    let (rows, hasMore) = try rows(
      "SELECT LinkedEntityId, ShareType FROM ContentDocumentLink WHERE ContentDocumentId = ?1 AND IsDeleted = 0 ORDER BY rowid",
      [.text(document)])
    let shares = try rows.map { row -> JSONValue in
      .object(["entity": try entity(row[0]), "sharingType": .string(row[1])])
    }
    return result("shares", shares, hasMore)
  }

  private func entity(_ id: String) throws -> JSONValue {
    guard let object = call.org.schema.object(ofId: id), object.name != "User" else {
      return try ConnectRoutes.card(of: id, call)
    }
    var name = JSONValue.null
    if let field = object.nameField,
      case .text(let text)? = try call.org.connection.firstValue(
        "SELECT \"\(field.name)\" FROM \(object.table) WHERE Id = ?", [.text(id)])
    {
      name = .string(text)
    }
    return .object([
      "id": .string(id), "name": name, "type": .string(object.name),
      "url": .string("\(call.dataRoot)/sobjects/\(object.name)/\(id)"),
    ])
  }

  // MARK: Pages

  /// Returns the rows of this page and whether more follow.
  private func rows(_ sql: String, _ values: [SQLValue]) throws -> (rows: [[String]], hasMore: Bool) {
    let statement = try call.org.connection.prepare("\(sql) LIMIT \(size + 1) OFFSET \(page * size)")
    try statement.bind(values)
    var rows: [[String]] = []
    while try statement.step() { rows.append((0..<statement.columnCount).map { statement.string($0) }) }
    return (Array(rows.prefix(size)), rows.count > size)
  }

  private func result(_ name: String, _ items: [JSONValue], _ hasMore: Bool) -> JSONValue {
    .object([
      name: .array(items), "currentPageUrl": .string(url(page)), "nextPageUrl": hasMore ? .string(url(page + 1)) : .null,
      "previousPageUrl": page > 0 ? .string(url(page - 1)) : .null,
    ])
  }

  private func url(_ page: Int) -> String {
    "\(call.request.path)?page=\(page)" + (call.request.parameter("pageSize") == nil ? "" : "&pageSize=\(size)")
  }

  // MARK: Parameters

  /// Returns the user in the URL: `me` or an id.
  ///
  /// - Throws: 404 for an unknown user.
  static func user(_ call: Call) throws -> String {
    let text = call.parameter("user")
    guard text.lowercased() != "me" else { return call.userId }
    let object = try call.org.object("User")
    guard let id = RecordID.normalized(text), try call.reader.presence(of: id, in: object) == .live else {
      throw SandboxError.notFound()
    }
    return id
  }

  static func number(_ name: String, _ call: Call, standard: Int, _ range: ClosedRange<Int>) throws(SandboxError) -> Int {
    guard let text = call.request.parameter(name), !text.isEmpty else { return standard }
    guard let number = Int(text), range.contains(number) else {
      throw illegal(name, text, "a number between \(range.lowerBound) and \(range.upperBound)")
    }
    return number
  }

  static func illegal(_ name: String, _ text: String, _ wanted: String) -> SandboxError {
    SandboxError(
      status: 400, code: "ILLEGAL_QUERY_PARAMETER_VALUE", message: "the parameter \(name) must be \(wanted), not '\(text)'")
  }
}
