import JSON

/// Why a pretend server refused a request or an operation. Clients see it on the wire; callers of
/// the Swift API catch it.
public struct SandboxError: Error, Sendable, Equatable, CustomStringConvertible {
  /// One problem.
  public struct Detail: Sendable, Equatable {
    /// A stable code such as `INVALID_FAULT`, for tests and clients to compare.
    public let code: String
    public let message: String
    /// API names of the affected fields; nil omits the key from the body (routing and query
    /// errors).
    public let fields: [String]?

    package init(code: String, message: String, fields: [String]?) {
      self.code = code
      self.message = message
      self.fields = fields
    }
  }

  /// The HTTP status; 0 for failures that never reach the wire, such as a server that cannot start.
  public let status: Int
  /// At least one.
  public let details: [Detail]
  /// The body's member whose value has the wrong type. The code that has the body's text adds its
  /// position to the message.
  package var member: String?

  public var domain: String { "sandbox" }
  public var code: String { details.first?.code ?? "UNKNOWN_EXCEPTION" }
  public var message: String { details.first?.message ?? "" }
  public var description: String { "\(code): \(message)" }

  public init(status: Int, code: String, message: String, fields: [String]? = nil) {
    self.status = status
    details = [Detail(code: code, message: message, fields: fields)]
  }

  package init(status: Int, details: [Detail]) {
    self.status = status
    self.details = details
  }
}

extension SandboxError {
  package static func notFound(_ message: String = "The requested resource does not exist") -> Self {
    Self(status: 404, code: "NOT_FOUND", message: message)
  }

  package static func json(_ message: String) -> Self { Self(status: 400, code: "JSON_PARSER_ERROR", message: message) }

  package static func unknown(_ message: String) -> Self { Self(status: 500, code: "UNKNOWN_EXCEPTION", message: message) }

  /// `[{"message","errorCode","fields"?}]`, the error format of the control interface.
  package var body: JSONValue {
    .array(
      details.map { detail in
        var object: JSONObject = ["message": .string(detail.message), "errorCode": .string(detail.code)]
        if let fields = detail.fields { object["fields"] = .array(fields.map { .string($0) }) }
        return .object(object)
      })
  }
}
