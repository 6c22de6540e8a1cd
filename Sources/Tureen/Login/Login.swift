import JSON
import Logging
import RestClient
import Salesforce
import Support

/// Runs one sign-in and stores its result in the home, atomically.
public struct Login: Sendable {
  /// The external dependencies of a sign-in. Tests replace them.
  struct Dependencies: Sendable {
    var retry = RetryEnvironment.live
    var policy = RetryPolicy.standard
    var limits = LoopbackListener.Limits()
    var openBrowser: @Sendable (_ url: String) -> Bool = { Browser.open($0) }
    var transport = TransportConfiguration()
    var apiVersion = "v66.0"
    /// Returns the session store for an org's and a user's folder; nil to store sessions in the home.
    var store: (@Sendable (_ org: String, _ user: String) -> (any SessionStore)?) = { _, _ in nil }
    /// Reads a secret from standard input.
    var input: @Sendable () throws -> [UInt8] = { [] }
  }

  let plan: LoginPlan
  let directory: OrgDirectory
  let settings: LoginSettings
  let dependencies: Dependencies

  init(_ plan: LoginPlan, _ settings: LoginSettings, home: String, _ dependencies: Dependencies) {
    self.plan = plan
    self.settings = settings
    directory = OrgDirectory(home: home)
    self.dependencies = dependencies
  }

  /// True if a person must sign in in a browser.
  public var needsPerson: Bool { plan.browser != nil }

  /// Signs in and stores the session.
  ///
  /// - Parameters:
  ///   - lines: The lines that a person types or pastes meanwhile.
  ///   - tell: Called with instructions for the person, such as the URL to open.
  /// - Throws: ``RestClient/RestError`` if the org or the person refuses or the time limit expires, `.cancelled` if the task is
  ///   cancelled; ``HostError`` for invalid files, a port in use, or an unexpected org or user; ``OrgNameError``. Nothing is
  ///   stored then.
  public func run(
    lines: AsyncStream<String> = AsyncStream { $0.finish() }, tell: @escaping @Sendable (LoginEvent) -> Void
  ) async throws -> LoginAccount {
    if let browser = plan.browser { return try await inBrowser(browser, lines, tell) }
    return try await withClient { client in
      let (session, credentials) = try await session(client, tell)
      return try await keep(session, credentials, client, tell)
    }
  }

  /// Runs `body` with a client, and shuts the client down afterwards.
  func withClient<Value: Sendable>(_ body: (OAuthClient) async throws -> Value) async throws -> Value {
    let transport = HTTPTransport(dependencies.transport)
    let client = OAuthClient(
      transport: transport, policy: dependencies.policy, environment: dependencies.retry, logger: Logger.tureen("login"))
    do {
      let value = try await body(client)
      await transport.shutdown()
      return value
    } catch {
      await transport.shutdown()
      throw Task.isCancelled ? RestError.cancelled(outcome: .unknown) : error
    }
  }

  // MARK: Without a person

  /// - Returns: The session, and the members of the credentials file to store.
  private func session(
    _ client: OAuthClient, _ tell: (LoginEvent) -> Void
  ) async throws -> (Session, credentials: JSONObject) {
    let found = try await Blocking.offPool { try credentials() }
    if let word = SignInFlow(rawValue: plan.flow.rawValue), let text = SignInWarnings.text(word) { tell(.warning(text)) }
    let file = try credentialsFile(found)
    return (try await client.signIn(found), file)
  }

  /// Returns the members of the credentials file, which later renewals need. They name the places of secrets, but contain none.
  private func credentialsFile(_ found: Credentials) throws -> JSONObject {
    guard plan.flow == .sfdxUrl, case .refreshToken(let url, let clientId, let secret, _) = found else { return plan.credentials }
    guard secret == nil else {
      guard plan.credentials["sfdxAuthUrlFile"] != nil else {
        throw LoginUsageError(
          "this SFDX auth URL contains a client secret, which every renewal needs: save the URL in a file and name it with "
            + "--sfdx-url-file")
      }
      return plan.credentials
    }
    // The stored session contains the refresh token, so the file with the SFDX auth URL is no longer needed.
    return ["flow": .string(LoginFlow.browser.rawValue), "loginUrl": .string(url), "clientId": .string(clientId)]
  }

  private func credentials() throws -> Credentials {
    switch plan.flow {
    case .token where plan.credentials.keys.allSatisfy({ !$0.hasPrefix("accessToken") }):
      let token = String(decoding: try dependencies.input(), as: UTF8.self).filter { !$0.isWhitespace }
      guard !token.isEmpty else { throw LoginUsageError("standard input does not contain an access token") }
      return .accessToken(instanceURL: plan.credentials["instanceUrl"]?.stringValue ?? "", accessToken: token)
    case .sfdxUrl where plan.credentials["sfdxAuthUrlFile"] == nil: return try sfdxURLOfInput()
    default:
      guard let found = try SignInFields(values: plan.credentials, folder: nil).found() else {
        throw HostError(.invalidConfiguration, "the flow '\(plan.flow.rawValue)' lacks something")
      }
      return found.credentials
    }
  }

  private func sfdxURLOfInput() throws -> Credentials {
    do {
      return try SFDXAuthURL(file: String(decoding: try dependencies.input(), as: UTF8.self)).credentials
    } catch let problem as SFDXAuthURL.Problem {
      throw HostError(.invalidConfiguration, "standard input: \(problem)")
    }
  }
}
