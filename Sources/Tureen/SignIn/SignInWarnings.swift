import Logging
import RestClient
import Synchronization

/// Warns about discouraged sign-in flows, once per process and flow.
enum SignInWarnings {
  private static let given = Mutex<Set<SignInFlow>>([])

  static func warn(about flow: SignInFlow) {
    guard let text = text(flow), given.withLock({ $0.insert(flow).inserted }) else { return }
    Logger.tureen("host").warning("\(text)")
  }

  /// Returns the warning for a flow; nil if there is none.
  static func text(_ flow: SignInFlow) -> String? {
    switch flow {
    case .password:
      "this sign-in uses a user name and a password, and Salesforce ends that flow for all orgs on 2027-02-20: change to a "
        + "private key (JWT) or client credentials"
    case .sfdxUrl:
      "the SFDX auth URL shares its refresh token with the sf CLI: where the app rotates refresh tokens, each of the two ends "
        + "the other's session; sfOrg asks the CLI instead"
    case .sf, .token, .refreshToken, .jwt, .clientCredentials, .browser: nil
    }
  }
}
