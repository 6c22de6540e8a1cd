import JSON
import RestClient
import Salesforce

/// A way to sign in, by its name in the key `flow`.
enum SignInFlow: String, CaseIterable, Sendable {
  /// The sf CLI provides the session.
  case sf
  /// An access token that another program obtained.
  case token
  case sfdxUrl, refreshToken, jwt, password, clientCredentials
  /// A person has signed in with `tureen login`; the stored session contains the refresh token.
  case browser
}

/// Interprets the keys of a credentials file or of the environment.
struct SignInFields {
  let values: JSONObject
  /// The base folder of relative file names; nil for the working directory.
  let folder: String?

  /// Placeholder user names for sessions of other programs, so that stores open before the first sign-in.
  static let tokenUser = "token-user", cliUser = "sf-user"

  func plain(_ key: String) -> String? { values[key]?.stringValue }
  func secret(_ name: String) throws -> SignInSecret? { try SignInSecret(name, in: values, folder: folder) }

  /// Returns the credentials. The flow is that of `flow`, or follows from the keys that are present.
  /// - Returns: nil if something is missing and there is no `flow`.
  func found() throws -> CredentialsSource.Found? {
    guard let flow = try flow() else { return nil }
    guard let (credentials, user) = try credentials(flow) else {
      guard plain("flow") != nil else { return nil }
      throw HostError(.invalidConfiguration, "'flow': '\(flow.rawValue)' needs \(Self.needs(flow))")
    }
    return CredentialsSource.Found(credentials: credentials, flow: flow, user: user)
  }

  /// Describes what a file without `flow` lacks.
  var incomplete: String {
    guard let flow = try? flow() else {
      return """
        needs loginUrl and clientId, and a refreshToken, username with a privateKeyFile or a password, or a clientSecret alone; \
        or an accessToken with instanceUrl; or sfOrg; or an sfdxAuthUrl
        """
    }
    return "needs \(Self.needs(flow))"
  }

  private static func needs(_ flow: SignInFlow) -> String {
    switch flow {
    case .sf: "sfOrg, an alias of the sf CLI's"
    case .token: "instanceUrl"
    case .sfdxUrl: "sfdxAuthUrl"
    case .refreshToken: "loginUrl, clientId and refreshToken"
    case .jwt: "loginUrl, clientId, username, and privateKeyFile, privateKeyVariable or privateKeyCommand"
    case .password: "loginUrl, clientId, clientSecret, username and password"
    case .clientCredentials: "loginUrl, clientId and clientSecret"
    case .browser: "loginUrl and clientId"
    }
  }

  // MARK: The flow

  func flow() throws -> SignInFlow? {
    if let name = plain("flow") {
      guard let flow = SignInFlow(rawValue: name) else {
        throw HostError(
          .invalidConfiguration,
          "'flow': '\(name)' is not one of \(SignInFlow.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      return flow
    }
    // Each of these keys alone defines a sign-in, so two of them conflict.
    var whole: [(key: String, flow: SignInFlow)] = []
    if plain("sfOrg") != nil { whole.append(("sfOrg", .sf)) }
    if let key = try secret("accessToken")?.key { whole.append((key, .token)) }
    if let key = try secret("sfdxAuthUrl")?.key { whole.append((key, .sfdxUrl)) }
    guard whole.count < 2 else {
      throw HostError(
        .invalidConfiguration,
        "'\(whole[1].key)' cannot be combined with '\(whole[0].key)': give one of them, or choose with 'flow'")
    }
    return try whole.first?.flow ?? flowOfParts()
  }

  private func flowOfParts() throws -> SignInFlow? {
    if try secret("refreshToken") != nil { return .refreshToken }
    if try secret(SignInKeys.privateKey) != nil { return .jwt }
    if plain("username") != nil, try secret("password") != nil { return .password }
    return try secret("clientSecret") != nil ? .clientCredentials : nil
  }

  // MARK: The credentials

  /// Returns nil if something is missing.
  private func credentials(_ flow: SignInFlow) throws -> (Credentials, user: String)? {
    let user = plain("username")
    switch flow {
    case .sf:
      let cli = try SalesforceCLI(alias: plain("sfOrg") ?? "")
      try cli.checkInstalled()
      return (cli.credentials, user ?? Self.cliUser)
    case .token: return try givenToken().map { ($0, user ?? Self.tokenUser) }
    case .sfdxUrl:
      guard let secret = try secret("sfdxAuthUrl") else { return nil }
      let url = try Self.sfdxURL(secret)
      return (url.credentials, user ?? url.credentials.clientId)
    default:
      guard let url = try address("loginUrl"), let clientId = plain("clientId") else { return nil }
      return try ofApp(flow, url, clientId, user)
    }
  }

  private func ofApp(
    _ flow: SignInFlow, _ url: String, _ clientId: String, _ user: String?
  ) throws -> (Credentials, user: String)? {
    switch flow {
    case .refreshToken, .browser:
      let token = try secret("refreshToken")?.text()
      guard token != nil || flow == .browser else { return nil }
      let own = try secret("clientSecret")?.text()
      return (
        .refreshToken(loginURL: url, clientId: clientId, clientSecret: own, refreshToken: token), user ?? clientId
      )
    case .jwt: return try bearer(url, clientId).map { (.jwtBearer($0), $0.username) }
    case .password:
      guard let user, let password = try secret("password")?.text() else { return nil }
      let own = try secret("clientSecret")?.text() ?? ""
      return (
        .password(loginURL: url, clientId: clientId, clientSecret: own, username: user, password: password), user
      )
    case .clientCredentials:
      guard let own = try secret("clientSecret")?.text() else { return nil }
      return (.clientCredentials(loginURL: url, clientId: clientId, clientSecret: own), clientId)
    case .sf, .token, .sfdxUrl: return nil
    }
  }

  private func bearer(_ url: String, _ clientId: String) throws -> JWTBearer? {
    guard let user = plain("username"), let key = try secret(SignInKeys.privateKey) else { return nil }
    // Report an invalid key at once, but run a command only to sign.
    if !key.isCommand { _ = try key.signingKey() }
    return JWTBearer(
      loginURL: url, clientId: clientId, username: user, audience: plain("audience"),
      key: SigningKeySource(name: key.name) { try key.signingKey() })
  }

  /// Reads a URL and checks that secrets may be sent to it.
  private func address(_ key: String) throws -> String? {
    guard let url = plain(key) else { return nil }
    if let problem = LoginAddress.problem(url) { throw HostError(.invalidConfiguration, "'\(key)': \(problem)") }
    return url
  }

  // MARK: Tokens of other programs

  /// Returns credentials for an access token. A token in the fields or in a variable is read once; one from a file or a command
  /// is read when needed, and again after the org has refused it.
  private func givenToken() throws -> Credentials? {
    guard let instance = try address("instanceUrl") ?? address("loginUrl") else { return nil }
    guard let secret = try secret("accessToken") else {
      return plain("flow") == nil ? nil : .accessToken(instanceURL: instance, accessToken: nil)
    }
    switch secret.location {
    case .text, .variable: return .accessToken(instanceURL: instance, accessToken: try secret.text())
    case .file, .command:
      if !secret.isCommand { _ = try secret.text() }
      return .external(
        ExternalToken(name: secret.name) { _ in
          Session(givenToken: try await Blocking.offPool { try secret.text() }, instanceURL: instance)
        })
    }
  }

  /// Parses an SFDX auth URL: the bare URL, or the sf CLI's JSON with `sfdxAuthUrl` at the top level or inside `result`.
  static func sfdxURL(_ secret: SignInSecret) throws -> SFDXAuthURL {
    do {
      return try SFDXAuthURL(file: try secret.read().withBytes { String(decoding: $0, as: UTF8.self) })
    } catch let problem as SFDXAuthURL.Problem {
      throw HostError(.invalidConfiguration, "\(secret.name): \(problem)")
    }
  }
}
