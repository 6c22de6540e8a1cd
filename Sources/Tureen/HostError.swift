import JSON
import LuaBridge
import MobileSync
import RestClient
import SmartStore
import Support

/// Why the host could not do its own part: settings, files beside the script, the choice of an org.
public struct HostError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Code: String, CaseIterable, Sendable {
    /// A setting or a configuration file is wrong; the message names the file, the line and the key.
    case invalidConfiguration
    /// The host is in use already; settings come before that.
    case alreadyInUse
    /// The org is not known, or there is nothing to sign in with.
    case noSuchOrg
    /// The org or the home has no such user, or none who is current, or the session has ended.
    case noSuchUser
    /// No sign-in of that id is open.
    case noSuchLogin
    /// The folder of the org belongs to another org, or the user's to another user of that name; or the org is not a sandbox
    /// where only one is allowed.
    case otherOrg
    case closed
    /// A port that a sign-in listens on is in use, or must not be used; the message names it.
    case portInUse
    /// A file to be sent cannot be read; the message names it.
    case fileNotReadable
    case fileTooLarge
    /// A file or folder under the home cannot be created, written or removed; the message names it.
    case fileNotWritable
    /// The host cannot do that; the message says what instead.
    case unsupported
  }

  public let code: Code
  public let message: String

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  public var description: String { message }
}

extension HostError: BridgeErrorConvertible {
  public var bridgeError: BridgeError { BridgeError(domain: "host", code: code.rawValue, message: message) }
}

extension HostError: SyncErrorConvertible {
  package var syncError: SyncError {
    SyncError(domain: "host", code: code.rawValue, message: message, isRetryable: false, cause: self)
  }
}

extension FileError: BridgeErrorConvertible {
  package var bridgeError: BridgeError { HostError(.fileNotWritable, message).bridgeError }
}

extension StoreError: BridgeErrorConvertible {
  public var bridgeError: BridgeError {
    var details = JSONObject()
    if let sql { details["sql"] = .string(sql) }
    return BridgeError(
      domain: "smartstore", code: code.rawValue, message: message, isRetryable: isRetryable, details: details)
  }
}

extension RestError: BridgeErrorConvertible {
  public var bridgeError: BridgeError { SyncError(wrapping: self).bridgeError }
}

extension SyncError: BridgeErrorConvertible {
  public var bridgeError: BridgeError {
    var details = json
    for key in ["domain", "code", "message", "retryable"] { details[key] = nil }
    return BridgeError(domain: domain, code: code, message: message, isRetryable: isRetryable, details: details)
  }
}
