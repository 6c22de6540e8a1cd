import JSON
import Logging
import RestClient
import Salesforce
import Support

/// One sign-in, from the choices to the files under the home: all of them are written, or none.
public struct Login: Sendable {
  /// What a sign-in needs of the world; tests pass their own.
  struct Surroundings: Sendable {
    var retry = RetryEnvironment.live
    var policy = RetryPolicy.standard
    var limits = LoopbackListener.Limits()
    var openBrowser: @Sendable (_ url: String) -> Bool = { Browser.open($0) }
    var transport = TransportConfiguration()
    var apiVersion = "v66.0"
    /// Where sessions are kept if not in the home, by the names of the org's and the user's folder.
    var store: (@Sendable (_ org: String, _ user: String) -> (any SessionStore)?) = { _, _ in nil }
    /// Bytes of standard input, for secrets that are given there.
    var input: @Sendable () throws -> [UInt8] = { [] }
  }

  let plan: LoginPlan
  let directory: OrgDirectory
  let settings: LoginSettings
  let around: Surroundings

  init(_ plan: LoginPlan, _ settings: LoginSettings, home: String, _ around: Surroundings) {
    self.plan = plan
    self.settings = settings
    directory = OrgDirectory(home: home)
    self.around = around
  }

  /// Whether a person has to be there.
  public var needsPerson: Bool { plan.browser != nil }

  /// Signs in and keeps it.
  ///
  /// - Parameters:
  ///   - lines: What a person types or pastes meanwhile.
  ///   - tell: Hears what the person has to do, such as the address to open.
  /// - Throws: ``RestClient/RestError`` when the org, the person or the time ends it, `.cancelled` with the task; ``HostError``
  ///   for wrong files, a port in use and another org or user than expected; ``OrgNameError``. Nothing is stored then.
  public func run(
    lines: AsyncStream<String> = AsyncStream { $0.finish() }, tell: @escaping @Sendable (LoginNews) -> Void
  ) async throws -> LoginAccount {
    if let browser = plan.browser { return try await inBrowser(browser, lines, tell) }
    return try await withClient { client in
      let (session, credentials) = try await session(client, tell)
      return try await keep(session, credentials, client, tell)
    }
  }

  /// Runs `body` with a client that is shut down in the end.
  func withClient<Value: Sendable>(_ body: (OAuthClient) async throws -> Value) async throws -> Value {
    let transport = HTTPTransport(around.transport)
    let client = OAuthClient(
      transport: transport, policy: around.policy, environment: around.retry, logger: Logger(label: "tureen.login"))
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

  /// - Returns: The session, and what a credentials file says of it.
  private func session(
    _ client: OAuthClient, _ tell: (LoginNews) -> Void
  ) async throws -> (Session, credentials: JSONObject) {
    let found = try await Blocking.offPool { try credentials() }
    if let word = SignInFlow(rawValue: plan.flow.rawValue), let text = SignInWarnings.text(word) { tell(.warning(text)) }
    let file = try credentialsFile(found)
    return (try await client.signIn(found), file)
  }

  /// What a later renewal needs to know: never a secret, but where one is kept.
  private func credentialsFile(_ found: Credentials) throws -> JSONObject {
    guard plan.flow == .sfdxUrl, case .refreshToken(let url, let clientId, let secret, _) = found else { return plan.credentials }
    guard secret == nil else {
      guard plan.credentials["sfdxAuthUrlFile"] != nil else {
        throw LoginUsageError(
          "this SFDX auth URL holds a client secret, which is needed for each renewal: keep it in a file and name that with "
            + "--sfdx-url-file")
      }
      return plan.credentials
    }
    // The kept session has all the rest: the file it came from may go.
    return ["flow": .string(LoginFlow.browser.rawValue), "loginUrl": .string(url), "clientId": .string(clientId)]
  }

  private func credentials() throws -> Credentials {
    switch plan.flow {
    case .token where plan.credentials.keys.allSatisfy({ !$0.hasPrefix("accessToken") }):
      let token = String(decoding: try around.input(), as: UTF8.self).filter { !$0.isWhitespace }
      guard !token.isEmpty else { throw LoginUsageError("standard input holds no access token") }
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
      return try SFDXAuthURL(file: String(decoding: try around.input(), as: UTF8.self)).credentials
    } catch let problem as SFDXAuthURL.Problem {
      throw HostError(.invalidConfiguration, "standard input: \(problem)")
    }
  }
}
