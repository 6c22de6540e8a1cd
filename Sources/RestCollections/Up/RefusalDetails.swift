import JSON
import RestClient

/// Describes the refusal of a record, as stored in `__last_error__`.
enum RefusalDetails {
  /// Statuses that concern the record itself: it is only sent again after it was edited.
  static let lasting: Set<Int> = [400, 409, 413, 415, 422, 451]

  /// - Parameters:
  ///   - at: Milliseconds since 1970 UTC.
  ///   - content: The hash of the refused entry, if it must not be sent again unchanged.
  static func json(
    _ error: RestError, _ paths: ConnectionSettings.ErrorPaths, at: Int64, content: String?
  ) -> JSONValue {
    let status = error.status ?? 0, text = error.body ?? "", body = try? JSONValue(parsing: Array(text.utf8))
    let response = RestResponse(status: status, headers: error.headers, body: ResponseBody(Array(text.utf8)))
    let asked = paths.message.flatMap { try? ValuePath($0) }
    let message =
      body.flatMap { asked?.value(in: $0)?.stringValue } ?? ConnectionErrors.message(of: response, paths: paths)
      ?? (status == 423 ? "the record is locked on the server" : "the server answered \(status)")
    var json = failure(message, status: status, at: at)
    json["code"] = body.flatMap { code(in: $0, paths) }.map { .string($0) } ?? .null
    json["fields"] = .object(body.map { fields(in: $0, status, paths) } ?? [:])
    if let content, lasting.contains(status) { json["content"] = .string(content) }
    return .object(json)
  }

  /// Describes a failure that did not come from the server.
  static func failure(_ message: String, status: Int = 0, code: String? = nil, at: Int64) -> JSONObject {
    [
      "status": .integer(Int64(status)), "code": code.map { .string($0) } ?? .null, "message": .string(message), "fields": [:],
      "at": .integer(at),
    ]
  }

  private static func code(in body: JSONValue, _ paths: ConnectionSettings.ErrorPaths) -> String? {
    if let path = paths.code.flatMap({ try? ValuePath($0) }) { return path.value(in: body)?.idText }
    for text in ["code", "error.code", "errors.0.code", "errno", "type"] {
      if let found = (try? ValuePath(text))?.value(in: body)?.idText { return found }
    }
    return nil
  }

  // MARK: Fields

  private static func fields(in body: JSONValue, _ status: Int, _ paths: ConnectionSettings.ErrorPaths) -> JSONObject {
    if let path = paths.fields.flatMap({ try? ValuePath($0) }) {
      return path.value(in: body).map { byName($0) ?? [:] } ?? [:]
    }
    if let errors = body["errors"], let found = byName(errors), !found.isEmpty { return found }
    if let details = body["details"]?.arrayValue {
      let found = listed(details)
      if !found.isEmpty { return found }
    }
    if let error = body["error"], error.objectValue != nil {
      let found = listed([error])
      if !found.isEmpty { return found }
    }
    guard status == 400 || status == 422, let object = body.objectValue, !object.isEmpty else { return [:] }
    let isOfTexts = object.allSatisfy { $0.value.arrayValue?.allSatisfy { $0.stringValue != nil } ?? false }
    return isOfTexts ? byName(body) ?? [:] : [:]
  }

  /// Reads an object with a text for each field, or a list of errors that name their fields.
  private static func byName(_ value: JSONValue) -> JSONObject? {
    if let list = value.arrayValue { return listed(list) }
    guard let object = value.objectValue else { return nil }
    var fields = JSONObject()
    for (name, value) in object { if let text = text(value) { fields[name] = .string(text) } }
    return fields
  }

  private static func listed(_ errors: [JSONValue]) -> JSONObject {
    var fields = JSONObject()
    for error in errors {
      let pointer = error["source"]?["pointer"]?.stringValue.map { String($0.split(separator: "/").last ?? "") }
      guard
        let name = error["field"]?.stringValue ?? pointer ?? error["name"]?.stringValue ?? error["param"]?.stringValue
          ?? error["target"]?.stringValue,
        !name.isEmpty
      else { continue }
      let words = ["message", "detail", "description", "title", "code"].lazy.compactMap { error[$0]?.stringValue }.first
      fields[name] = .string(words ?? "refused")
    }
    return fields
  }

  private static func text(_ value: JSONValue) -> String? {
    if let text = value.stringValue { return text }
    let texts = value.arrayValue?.compactMap(\.stringValue) ?? []
    if !texts.isEmpty { return texts.joined(separator: " ") }
    return value["message"]?.stringValue
  }
}
