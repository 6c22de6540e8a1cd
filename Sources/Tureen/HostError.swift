import JSON
import LuaBridge
import MobileSync
import RestClient
import SmartStore
import Support

/// An error of the host itself: about settings, files, sign-ins or the choice of an org.
public struct HostError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Code: String, CaseIterable, Sendable {
    /// A setting or a configuration file is wrong; the message names the file, the line and the key.
    case invalidConfiguration
    /// The host is already in use, so its settings can no longer be changed.
    case alreadyInUse
    /// The org is not known, or there are no credentials to sign in with.
    case noSuchOrg
    /// The org or the home has no such user or no current user, or the session has ended.
    case noSuchUser
    /// No sign-in with that id is in progress.
    case noSuchLogin
    /// The org's folder belongs to another org, or the user's folder to another user of that name; or the org is not a sandbox
    /// although only sandboxes are allowed.
    case otherOrg
    case closed
    /// The port for a sign-in's redirect is in use or not allowed; the message names it.
    case portInUse
    /// A file to upload cannot be read; the message names it.
    case fileNotReadable
    case fileTooLarge
    /// A file or folder under the home cannot be created, written or removed; the message names it.
    case fileNotWritable
    /// The host does not support the operation; the message names the alternative.
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
