import RestClient
import Salesforce
import SmartStore
import Tureen

extension ExitStatus {
  /// How a command ends whose sign-in failed.
  static func ofSignIn(_ error: any Error) -> Int32 {
    switch error {
    case let error as RestError: return ofSignIn(error)
    case let error as HostError:
      switch error.code {
      case .portInUse: return unavailable
      case .invalidConfiguration: return configuration
      case .noSuchOrg, .otherOrg, .noSuchUser: return signInNeeded
      default: return callFailed
      }
    case let error as StoreError where error.code == .storeInUse: return tryAgain
    default: return callFailed
    }
  }

  private static func ofSignIn(_ error: RestError) -> Int32 {
    switch error.code {
    case .cancelled: return interrupted
    case .notAuthenticated, .sessionExpired:
      // These pass by themselves, and are no one's mistake.
      let passing: [SignInReason] = [.rateLimited, .ipRestricted]
      return passing.contains { $0.rawValue == error.reason } ? tryAgain : signInNeeded
    default: return error.isRetryable ? tryAgain : callFailed
    }
  }
}
