import JSON

/// Why a call failed, as the script sees it: `{domain, code, message, retryable, ...}`.
public struct BridgeError: Error, Sendable, Equatable {
  /// Which part of the core failed: `bridge`, `store`, `sync`, `network`...
  public let domain: String
  /// Stable within its domain: scripts switch on it.
  public let code: String
  /// For people. Carries no record values.
  public let message: String
  /// True when the same call, unchanged, may succeed later.
  public let isRetryable: Bool
  /// What the domain adds: `status`, `headers`, `body`, `errors` for network. Never replaces the keys above.
  public var details: JSONObject

  public init(
    domain: String, code: String, message: String, isRetryable: Bool = false, details: JSONObject = JSONObject()
  ) {
    self.domain = domain
    self.code = code
    self.message = message
    self.isRetryable = isRetryable
    self.details = details
  }

  /// The error as JSON text.
  public var serialized: [UInt8] { JSONValue.object(object).serialized() }

  /// The error as the script gets it.
  public var object: JSONObject {
    var object = details
    object["domain"] = .string(domain)
    object["code"] = .string(code)
    object["message"] = .string(message)
    object["retryable"] = .bool(isRetryable)
    return object
  }
}

/// An error of another target that knows how a script should see it.
public protocol BridgeErrorConvertible: Error {
  var bridgeError: BridgeError { get }
}

extension BridgeError {
  /// Any error as a script sees it. What is not known comes out as `bridge` `internal`.
  init(describing error: any Error) {
    switch error {
    case let error as BridgeError: self = error
    case let error as any BridgeErrorConvertible: self = error.bridgeError
    default: self.init(domain: "bridge", code: "internal", message: String(describing: error))
    }
  }

  /// An error of the bridge itself.
  static func bridge(_ code: Code, _ message: String, isRetryable: Bool = false) -> BridgeError {
    BridgeError(domain: "bridge", code: code.rawValue, message: message, isRetryable: isRetryable)
  }

  /// The codes of the domain `bridge`. `invalidArguments` is raised by the Lua modules as well.
  public enum Code: String, CaseIterable, Sendable {
    case invalidArguments, unknownService, unknownAction, mailboxFull, interrupted, closed, abandoned, cancelled, `internal`
    /// Of scripts that run under limits.
    case restricted, memoryLimit
    /// Of tasks; the Lua modules make them.
    case raised, timeout, stillWaiting
    /// Of a cursor; `tureen.smartstore` makes it.
    case noSuchPage
    /// Of texts that Lua gives; the C bridge makes it.
    case invalidJSON
  }
}
