import JSON

/// An error reported by the server, in any of its formats.
struct ServerRefusal: Error, Sendable, Equatable {
  /// nil for an item of a batch, which has no status.
  let status: Int?
  /// nil if the server sends none: for wrong keys, bodies other than JSON, proxy pages, and some
  /// items of a batch.
  let code: Int?
  let message: String
  /// Whether an earlier attempt of the request may have been executed.
  var followsLostAttempt = false

  init(status: Int?, code: Int?, message: String) {
    self.status = status
    self.code = code
    self.message = message
  }

  /// - Parameter body: The body of a response with an error status.
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

  /// Code 1 comes with `message` or `error`; cloud code may put any JSON there.
  private static func text(_ object: JSONObject) -> String? { (object["error"] ?? object["message"]).map { text($0) } }

  private static func text(_ value: JSONValue) -> String {
    value.stringValue ?? value["message"]?.stringValue ?? value["error"]?.stringValue ?? value.text
  }

  /// Returns the JSON text for `__last_error__`; it has no `code` if the server sent none.
  ///
  /// - Parameter time: When the error was received, in milliseconds since 1970 UTC.
  func lastError(at time: Int64) -> String {
    var members = JSONObject()
    if let code { members["code"] = .integer(Int64(code)) }
    members["error"] = .string(message)
    if let status { members["status"] = .integer(Int64(status)) }
    members["at"] = .integer(time)
    return members.text
  }
}
