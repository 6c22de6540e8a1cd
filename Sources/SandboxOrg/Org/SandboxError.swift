import JSON

/// Why the pretend org refused something: what a client sees on the wire, and what callers of the Swift API catch.
public struct SandboxError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One element of Salesforce's error array.
  public struct Detail: Sendable, Equatable {
    /// Salesforce's `errorCode`, such as `REQUIRED_FIELD_MISSING`.
    public let code: String
    public let message: String
    /// API names of the fields concerned. nil leaves the key out of the body (routing and query errors).
    public let fields: [String]?
  }

  /// HTTP status of the answer; 0 for failures that never reach the wire (a server that cannot start).
  public let status: Int
  /// At least one.
  public let details: [Detail]
  /// The member of the body whose value has the wrong type; a request that has the body's text adds the place to the message.
  var member: String?

  public var domain: String { "sandbox" }
  public var code: String { details.first?.code ?? "UNKNOWN_EXCEPTION" }
  public var message: String { details.first?.message ?? "" }
  public var description: String { "\(code): \(message)" }

  /// True when the same call, unchanged, may succeed later.
  public var isRetryable: Bool {
    ["UNABLE_TO_LOCK_ROW", "SERVER_UNAVAILABLE", "QUERY_TIMEOUT", "UNKNOWN_EXCEPTION"].contains(code)
  }

  public init(status: Int, code: String, message: String, fields: [String]? = nil) {
    self.status = status
    details = [Detail(code: code, message: message, fields: fields)]
  }

  init(status: Int, details: [Detail]) {
    self.status = status
    self.details = details
  }
}

extension SandboxError {
  /// Names the file where the reason was found without it.
  func opening(_ path: String?) -> Self {
    let start = "cannot open the sandbox database: "
    guard code == "CANNOT_OPEN_DATABASE", let path, message.hasPrefix(start) else { return self }
    return OrgDatabase.cannotOpen(path, String(message.dropFirst(start.count)))
  }

  static func notFound(_ message: String = "The requested resource does not exist") -> Self {
    Self(status: 404, code: "NOT_FOUND", message: message)
  }

  static let sessionInvalid = Self(status: 401, code: "INVALID_SESSION_ID", message: "Session expired or invalid")

  static func entityIsDeleted(status: Int) -> Self {
    Self(status: status, code: "ENTITY_IS_DELETED", message: "entity is deleted", fields: [])
  }

  static let crossReference = Self(
    status: 400, code: "INVALID_CROSS_REFERENCE_KEY", message: "invalid cross reference id", fields: [])

  static func json(_ message: String) -> Self { Self(status: 400, code: "JSON_PARSER_ERROR", message: message) }

  static func unknownType(_ name: String) -> Self {
    Self(status: 400, code: "INVALID_TYPE", message: unsupportedTypeText(name), fields: [])
  }

  static func unknownColumn(_ field: String, on object: String) -> Self {
    Self(status: 400, code: "INVALID_FIELD", message: "No such column '\(field)' on sobject of type \(object)")
  }

  static func unknown(_ message: String) -> Self { Self(status: 500, code: "UNKNOWN_EXCEPTION", message: message) }

  /// The text query and collection errors share.
  static func unsupportedTypeText(_ name: String) -> String {
    "sObject type '\(name)' is not supported. If you are attempting to use a custom object, be sure to append "
      + "the '__c' after the entity name. Please reference your WSDL or the describe call for the appropriate names."
  }

  /// Says where the value stands that the error is about, as Salesforce's JSON reader does.
  /// - Parameter text: The body, valid JSON.
  func placed(in text: [UInt8]) -> Self {
    guard code == "JSON_PARSER_ERROR", let member, let offset = JSONPlace.value(of: member, in: text) else { return self }
    let place = JSONPlace.position(offset, in: text)
    return .json("\(message) at [line:\(place.line), column:\(place.column)]")
  }

  /// `[{"message","errorCode","fields"?}]`, the body of every failing data call.
  var body: JSONValue {
    .array(
      details.map { detail in
        var object: JSONObject = ["message": .string(detail.message), "errorCode": .string(detail.code)]
        if let fields = detail.fields { object["fields"] = .array(fields.map { .string($0) }) }
        return .object(object)
      })
  }

  /// The `errors` array of one collection item, where the code is called `statusCode` and `fields` is always there.
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
