import JSON

/// An error as the server tells it, in any of the shapes it has.
struct ServerRefusal: Error, Sendable, Equatable {
  /// nil for an item of a batch, which has none.
  let status: Int?
  /// nil where the server gives none: wrong keys, bodies that are not JSON, pages of a proxy, some items of a batch.
  let code: Int?
  let message: String

  init(status: Int?, code: Int?, message: String) {
    self.status = status
    self.code = code
    self.message = message
  }

  /// - Parameter body: Of an answer with an error status.
  init(status: Int, body: [UInt8]) {
    guard let object = (try? JSONValue(parsing: body))?.objectValue else {
      self.init(status: status, code: nil, message: "HTTP \(status) without an error text")
      return
    }
    self.init(status: status, code: Self.code(object), message: Self.text(object) ?? "HTTP \(status) without an error text")
  }

  /// - Parameter error: The member `error` of a batch item.
  init(batchItem error: JSONValue) {
    guard let object = error.objectValue else {
      self.init(status: nil, code: nil, message: Self.text(error))
      return
    }
    self.init(status: nil, code: Self.code(object), message: Self.text(object) ?? "an error without a text")
  }

  private static func code(_ object: JSONObject) -> Int? { object["code"]?.integerValue.map { Int(clamping: $0) } }

  /// Code 1 comes with `message` or with `error`; cloud code puts any JSON there.
  private static func text(_ object: JSONObject) -> String? { (object["error"] ?? object["message"]).map { text($0) } }

  private static func text(_ value: JSONValue) -> String {
    value.stringValue ?? value["message"]?.stringValue ?? value["error"]?.stringValue ?? value.text
  }

  /// What `__last_error__` holds of it: JSON text. Without a code there is no `code`.
  /// - Parameter time: When it came, milliseconds since 1970 UTC.
  func kept(at time: Int64) -> String {
    var members = JSONObject()
    if let code { members["code"] = .integer(Int64(code)) }
    members["error"] = .string(message)
    if let status { members["status"] = .integer(Int64(status)) }
    members["at"] = .integer(time)
    return members.text
  }
}
