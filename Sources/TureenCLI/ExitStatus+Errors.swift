import JSON
import LuaBridge
import RestClient
import Salesforce
import SmartStore
import Support
import Tureen

extension ExitStatus {
  /// The exit status of a command that ended with this error.
  static func of(_ error: any Error) -> Int32 {
    switch error {
    case is OrgNameError: usage
    case is CancellationError: interrupted
    case let error as RestError where error.code == .cancelled: interrupted
    case let error as HostError where error.code == .portInUse: unavailable
    case let error as StoreError where error.code == .storeInUse: tryAgain
    case let error as any BridgeErrorConvertible: of(error.bridgeError)
    case let error as BridgeError: of(error)
    default: callFailed
    }
  }

  private static func of(_ error: BridgeError) -> Int32 {
    of(domain: error.domain, code: error.code, reason: error.details["reason"]?.stringValue)
      ?? (error.isRetryable ? tryAgain : callFailed)
  }

  /// The exit status for errors in settings and sign-ins. Nil for other errors.
  static func of(domain: String, code: String, reason: String?) -> Int32? {
    switch "\(domain)/\(code)" {
    case "host/invalidConfiguration": configuration
    case "host/noSuchOrg", "host/noSuchUser", "host/otherOrg": signInNeeded
    case "network/notAuthenticated", "network/sessionExpired":
      // These errors are transient.
      [SignInReason.rateLimited, .ipRestricted].contains { $0.rawValue == reason } ? tryAgain : signInNeeded
    default: nil
    }
  }

  /// The exit status after an error object of the bridge.
  static func of(_ error: JSONValue) -> Int32 {
    let known = of(
      domain: error["domain"]?.stringValue ?? "", code: error["code"]?.stringValue ?? "", reason: error["reason"]?.stringValue)
    return known ?? (error["retryable"]?.boolValue == true ? tryAgain : callFailed)
  }

  /// The exit status of `tureen orgs --check`.
  static func of(_ checked: [HomeAccounts.Checked]) -> Int32 {
    let needsPerson = checked.contains { if case .needsSignIn = $0.account.state { true } else { false } }
    if needsPerson { return signInNeeded }
    return checked.compactMap(\.problem).map { of($0) }.max() ?? 0
  }
}

/// The texts that commands print for an error.
enum ErrorText {
  static func of(_ error: any Error) -> String {
    switch error {
    case let error as BridgeError: error.message
    case let error as any BridgeErrorConvertible: error.bridgeError.message
    default: "\(error)"
    }
  }

  /// The error as a JSON object on one line; nil if it has no such form.
  static func json(of error: any Error) -> String? {
    let known = error as? BridgeError ?? (error as? any BridgeErrorConvertible)?.bridgeError
    return known.map { TerminalText.escapedJSON(JSONValue.object($0.object).text) }
  }
}
