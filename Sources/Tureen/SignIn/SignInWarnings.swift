import Logging
import Synchronization

/// What people should hear of a way to sign in: once in a process, however many hosts it opens.
enum SignInWarnings {
  private static let given = Mutex<Set<SignInFlow>>([])

  static func warn(about flow: SignInFlow) {
    guard let text = text(flow), given.withLock({ $0.insert(flow).inserted }) else { return }
    Logger(label: "tureen.host").warning("\(text)")
  }

  /// What is said of a flow; nil when there is nothing to say.
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
