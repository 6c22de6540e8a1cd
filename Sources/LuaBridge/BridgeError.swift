import JSON

/// The error of a call as the script gets it: `{domain, code, message, retryable, ...}`.
public struct BridgeError: Error, Sendable, Equatable {
  /// The part of the core that failed: `bridge`, `smartstore`, `mobilesync`, `network`...
  public let domain: String
  /// The kind of error. Codes are stable within a domain, so scripts can test for them.
  public let code: String
  /// A message for people. It contains no record values.
  public let message: String
  /// Whether the same call may succeed later.
  public let isRetryable: Bool
  /// Further members of the domain, such as `status`, `headers`, `body` and `errors` of `network`. They never replace the keys
  /// above.
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

  /// The error as the object that the script gets.
  public var object: JSONObject {
    var object = details
    object["domain"] = .string(domain)
    object["code"] = .string(code)
    object["message"] = .string(message)
    object["retryable"] = .bool(isRetryable)
    return object
  }
}

/// An error of another module that can be converted to a ``BridgeError``.
public protocol BridgeErrorConvertible: Error {
  var bridgeError: BridgeError { get }
}

extension BridgeError {
  /// Converts any error. An unknown one becomes `internal` of the domain `bridge`.
  init(describing error: any Error) {
    switch error {
    case let error as BridgeError: self = error
    case let error as any BridgeErrorConvertible: self = error.bridgeError
    default: self.init(domain: "bridge", code: "internal", message: String(describing: error))
    }
  }

  /// Creates an error of the domain `bridge`.
  static func bridge(_ code: Code, _ message: String, isRetryable: Bool = false) -> BridgeError {
    BridgeError(domain: "bridge", code: code.rawValue, message: message, isRetryable: isRetryable)
  }

  /// Returns the error of a restricted script for something that the operator has not allowed. It says how to allow it.
  ///
  /// - Parameters:
  ///   - what: The thing refused, such as "service 'com.acme.printer'".
  ///   - service: The service or plug-in that has to be allowed for it.
  ///   - allowed: The services that are allowed.
  ///   - script: The kind of script, with the option that makes it one.
  public static func restricted(
    _ what: String, service: String, allowed: Set<String>, to script: String = "a restricted script (--restricted)"
  ) -> BridgeError {
    let names = allowed.isEmpty ? "nothing beyond the org's data" : allowed.sorted().joined(separator: ", ")
    return .bridge(
      .restricted,
      "\(what) is not available to \(script); allow it with --allow-service \(service), or "
        + "HostSettings.allowedServices in Swift; allowed so far: \(names)")
  }

  /// The codes of the domain `bridge`. The Lua modules raise `invalidArguments`, too.
  public enum Code: String, CaseIterable, Sendable {
    case invalidArguments, unknownService, unknownAction, mailboxFull, interrupted, closed, abandoned, cancelled, `internal`
    /// For scripts with limits.
    case restricted, memoryLimit
    /// For tasks; raised by the Lua modules.
    case raised, timeout, stillWaiting
    /// For cursors; raised by `tureen.smartstore`.
    case noSuchPage
    /// For JSON text from Lua; raised by the bridge in C.
    case invalidJSON
  }
}
