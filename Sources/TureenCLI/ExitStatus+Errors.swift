import LuaBridge
import RestClient
import SmartStore
import Support
import Tureen

extension ExitStatus {
  /// What a command ends with that an error has ended.
  static func of(_ error: any Error) -> Int32 {
    switch error {
    case is OrgNameError: usage
    case let error as HostError where error.code == .invalidConfiguration: configuration
    case let error as StoreError where error.code == .storeInUse: tryAgain
    case let error as any BridgeErrorConvertible: of(error.bridgeError)
    case let error as BridgeError: of(error)
    default: callFailed
    }
  }

  private static func of(_ error: BridgeError) -> Int32 {
    ofSignIn(domain: error.domain, code: error.code, reason: error.details["reason"]?.stringValue)
      ?? (error.isRetryable ? tryAgain : callFailed)
  }

  /// For errors of sign-ins: a person has to do something, or the same may succeed later. Nil for other errors.
  static func ofSignIn(domain: String, code: String, reason: String?) -> Int32? {
    switch "\(domain)/\(code)" {
    case "network/notAuthenticated", "network/sessionExpired":
      ["rateLimited", "ipRestricted"].contains(reason ?? "") ? tryAgain : signInNeeded
    case "host/noSuchOrg", "host/noSuchUser", "host/otherOrg": signInNeeded
    default: nil
    }
  }

  /// What `tureen orgs --check` ends with.
  static func of(_ checked: [HomeAccounts.Checked]) -> Int32 {
    let needsPerson = checked.contains { if case .needsSignIn = $0.account.state { true } else { false } }
    if needsPerson { return signInNeeded }
    return checked.compactMap(\.problem).map { of($0) }.first ?? 0
  }
}

/// What commands print of an error.
enum ErrorText {
  static func of(_ error: any Error) -> String {
    switch error {
    case let error as BridgeError: error.message
    case let error as any BridgeErrorConvertible: error.bridgeError.message
    default: "\(error)"
    }
  }
}
