import RestClient
import Salesforce

/// The sf CLI's token in the environment. It has the lowest precedence, because it was set for another program.
struct SalesforceVariables {
  let instanceURL: String
  private let token: String

  /// The variables `SF_ACCESS_TOKEN` and `SF_ORG_INSTANCE_URL`, or their old names; nil unless both are set.
  static var current: SalesforceVariables? {
    guard let token = Environment["SF_ACCESS_TOKEN"] ?? Environment["SFDX_ACCESS_TOKEN"],
      let url = Environment["SF_ORG_INSTANCE_URL"] ?? Environment["SFDX_INSTANCE_URL"]
    else { return nil }
    return SalesforceVariables(instanceURL: url, token: token)
  }

  /// - Returns: nil if the token belongs to another host.
  /// - Throws: ``HostError`` `.invalidConfiguration` for an address that must not receive a token.
  func found(for address: String) throws -> CredentialsSource.Found? {
    guard let own = WebAddress(instanceURL), let asked = WebAddress(address), own == asked else { return nil }
    if let problem = LoginAddress.problem(instanceURL) {
      throw HostError(.invalidConfiguration, "the environment: SF_ORG_INSTANCE_URL: \(problem)")
    }
    guard token.utf8.allSatisfy({ $0 > 32 && $0 < 127 }) else {
      throw HostError(.invalidConfiguration, "the environment: SF_ACCESS_TOKEN holds bytes that cannot be sent")
    }
    return CredentialsSource.Found(
      credentials: .accessToken(instanceURL: instanceURL, accessToken: token), flow: .token, user: SignInFields.tokenUser)
  }
}
