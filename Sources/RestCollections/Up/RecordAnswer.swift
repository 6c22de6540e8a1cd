import JSON
import MobileSync
import RestClient

/// The content of a successful response to a write.
struct RecordAnswer: Sendable {
  /// The record's id; nil if the response does not contain it.
  var id: String?
  /// The members to store in the soup.
  var members: JSONObject?
  var tag: String?
  /// Whether the response lacks the record, so that the server's version is unknown.
  var isIncomplete = true
  /// Whether the response says that the record does not exist.
  var isGone = false
  /// A warning for the user.
  var warning: String?

  /// - Throws: `RestError` `.invalidBody` for a gateway's page, because it does not confirm the
  ///   change.
  init(_ response: ConnectionResponse, to operation: UploadOperation, _ row: UploadRow, _ exchange: RecordExchange) throws {
    let answer = PageAnswer(response), isCreate = row.serverId == nil || row.key != nil
    let isRecord = operation.answer == .item || operation.answer == .partial
    id = isCreate ? row.key?.id : row.serverId
    let isWord = !isRecord && answer.mediaType == "text/plain"
    guard response.body.count > 0, response.status != 204, !isWord else {
      id = id ?? operation.idPath?.value(in: .null, of: answer)?.idText ?? RecordAnswer.id(inLocation: answer)
      tag = exchange.up.tag.path.headerName.flatMap(answer.header)
      return
    }
    guard answer.isJSON, let json = try? response.body.json() else {
      throw response.response.invalidBody("expected JSON, or no body")
    }
    if json.arrayValue?.isEmpty ?? false {
      isGone = !isCreate
      return
    }
    let said = operation.idPath?.value(in: json, of: answer)?.idText
    guard isRecord else {
      id = id ?? said ?? itemId(json, operation, exchange) ?? RecordAnswer.id(inLocation: answer)
      return
    }
    let found = (operation.itemPath ?? ValuePath.root).value(in: json)
    let item = found?.objectValue ?? found?.arrayValue?.first?.objectValue
    let inside = item.flatMap { exchange.target.items.idField.value(in: .object($0))?.idText }
    let known = id ?? said
    id = known ?? inside ?? RecordAnswer.id(inLocation: answer)
    guard let item, inside.map({ $0 == id }) ?? (operation.answer == .partial) else {
      if operation.answer == .item && (known == nil || item != nil) || inside != nil {
        warning =
          "the response to \(operation.method.rawValue) contains no record with its "
          + "'\(exchange.target.items.idField.text)' and is not stored; "
          + "set 'itemPath' or 'answer'"
      }
      return
    }
    members = try exchange.members(item, row)
    tag = exchange.tag(in: item, response)
    isIncomplete = false
  }

  private func itemId(_ json: JSONValue, _ operation: UploadOperation, _ exchange: RecordExchange) -> String? {
    (operation.itemPath ?? ValuePath.root).value(in: json).flatMap { exchange.target.items.idField.value(in: $0)?.idText }
  }

  /// Returns the last part of the `Location` path. With a 202, this may be the URL of a job, so
  /// only a URL directly below the list's own is accepted.
  private static func id(inLocation answer: PageAnswer) -> String? {
    guard let location = answer.header("Location") else { return nil }
    func parts(_ url: String) -> [Substring] { url.prefix { $0 != "?" && $0 != "#" }.split(separator: "/") }
    let path = parts(URLReference.resolve(location, against: answer.url))
    guard answer.status != 202 || path.dropLast() == parts(answer.url)[...] else { return nil }
    return path.last.map { URLQuery.decoded($0) }
  }
}
