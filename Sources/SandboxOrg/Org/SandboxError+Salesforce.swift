import JSON
import RecordScan

// Errors of a Salesforce org.
extension SandboxError {
  /// True if the same call, unchanged, may succeed later.
  public var isRetryable: Bool {
    ["UNABLE_TO_LOCK_ROW", "SERVER_UNAVAILABLE", "QUERY_TIMEOUT", "UNKNOWN_EXCEPTION"].contains(code)
  }
}

extension SandboxError {
  /// Adds the file's path to an error that was raised without it.
  func opening(_ path: String?) -> Self {
    let start = "cannot open the sandbox database: "
    guard code == "CANNOT_OPEN_DATABASE", let path, message.hasPrefix(start) else { return self }
    return OrgDatabase.cannotOpen(path, String(message.dropFirst(start.count)))
  }

  static let sessionInvalid = Self(status: 401, code: "INVALID_SESSION_ID", message: "Session expired or invalid")

  static let urlNotReset = Self(
    status: 400, code: "URL_NOT_RESET", message: "Destination URL not reset. The URL returned from login must be set")

  static func entityIsDeleted(status: Int) -> Self {
    Self(status: status, code: "ENTITY_IS_DELETED", message: "entity is deleted", fields: [])
  }

  static let crossReference = Self(
    status: 400, code: "INVALID_CROSS_REFERENCE_KEY", message: "invalid cross reference id", fields: [])

  static func unknownType(_ name: String) -> Self {
    Self(status: 400, code: "INVALID_TYPE", message: unsupportedTypeText(name), fields: [])
  }

  static func unknownColumn(_ field: String, on object: String) -> Self {
    Self(status: 400, code: "INVALID_FIELD", message: "No such column '\(field)' on sobject of type \(object)")
  }

  /// The message that query and collection errors share.
  static func unsupportedTypeText(_ name: String) -> String {
    "sObject type '\(name)' is not supported. If you are attempting to use a custom object, be sure to append "
      + "the '__c' after the entity name. Please reference your WSDL or the describe call for the appropriate names."
  }

  /// Adds the position of the offending value to the message, as Salesforce's JSON reader does.
  ///
  /// - Parameters:
  ///   - text: The body, valid JSON.
  ///   - path: The path to the record; empty if the body is the record.
  func addingPosition(in text: [UInt8], at path: [PathStep] = []) -> Self {
    guard code == "JSON_PARSER_ERROR", let member,
      let offset = JSONLocator.offset(at: path + [.member(member)], in: text)
    else { return self }
    let place = JSONError.position(of: offset, in: text)
    return .json("\(message) at [line:\(place.line), column:\(place.column)]")
  }

  /// The `errors` array of a collection item, where the code is named `statusCode` and `fields` is
  /// always present.
  var itemErrors: JSONValue {
    .array(
      details.map { detail in
        .object([
          "statusCode": .string(detail.code), "message": .string(detail.message),
          "fields": .array((detail.fields ?? []).map { .string($0) }),
        ])
      })
  }
}
