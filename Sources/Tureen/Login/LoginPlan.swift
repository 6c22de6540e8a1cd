import JSON
import RestClient
import Salesforce

/// What a sign-in does: decided from the options, the environment, what is kept about the org, and `bootconfig.json`, in this
/// order. A value: nothing is read or asked.
struct LoginPlan: Sendable {
  /// What the options leave open.
  struct Surroundings: Sendable {
    /// Values of the environment.
    var variable: @Sendable (String) -> String? = { Environment[$0] }
    /// The login host of the org that the options name, where it is known.
    var loginURL: String?
    /// How that org's users sign in, as its file says.
    var credentials = JSONObject()
    var bootConfig = JSONObject()
  }

  let flow: LoginFlow
  /// What a credentials file says: everything the next renewal needs, but no secret.
  private(set) var credentials = JSONObject()
  /// Who is expected to sign in.
  private(set) var user: String?
  /// The name for the org; nil leaves it to its host.
  let orgName: String?
  private(set) var browser: BrowserPlan?

  /// A person's sign-in.
  struct BrowserPlan: Sendable {
    let request: AuthorizationRequest
    let opensBrowser: Bool
    let timeoutS: Int
  }

  private let settings: LoginSettings
  private let around: Surroundings

  /// - Throws: ``LoginUsageError`` for options that are wrong together, ``HostError`` `.invalidConfiguration` for files that are.
  init(_ settings: LoginSettings, _ around: Surroundings) throws {
    self.settings = settings
    self.around = around
    flow = try LoginPlan.flow(settings)
    let isAddress = settings.org.map(LoginPlan.isAddress) ?? false
    orgName = isAddress ? nil : settings.org
    try checkOptions()
    user = settings.user ?? around.variable(SignInKeys.variable("username")) ?? around.credentials["username"]?.stringValue
    credentials["flow"] = .string(flow.rawValue)
    switch flow {
    case .browser: try planBrowser()
    case .jwt:
      try takeLoginURL()
      try takeClientId()
      try takeUser()
      try take("privateKey", settings.key, "a private key", "key", isNeeded: true)
      credentials["audience"] = value(settings.audience, "audience").map { .string($0) }
    case .clientCredentials:
      try takeLoginURL()
      try takeClientId()
      user = settings.user
      try take("clientSecret", settings.clientSecret, "a client secret", "secret", isNeeded: true)
    case .password:
      try takeLoginURL()
      try takeClientId()
      try takeUser()
      try take("clientSecret", settings.clientSecret, "a client secret", "secret", isNeeded: false)
      try take("password", settings.password, "a password", "password", isNeeded: true)
    case .token: try planToken()
    case .sfdxUrl:
      user = settings.user
      if let file = settings.sfdxURLFile, file != "-" { credentials["sfdxAuthUrlFile"] = .string(HostSettings.absolute(file)) }
    case .sf:
      user = settings.user
      credentials["sfOrg"] = .string(settings.sfAlias ?? "")
    }
  }

  private static func isAddress(_ org: String) -> Bool { org.hasPrefix("https://") || org.hasPrefix("http://") }

  // MARK: The flow

  private static func flow(_ settings: LoginSettings) throws -> LoginFlow {
    if let word = settings.flow {
      guard let flow = LoginFlow(rawValue: word) else {
        let hint = NearestName.hint(for: word, among: LoginFlow.allCases.map(\.rawValue))
        throw LoginUsageError("--flow: '\(word)' is not a flow\(hint)")
      }
      return flow
    }
    if settings.sfAlias != nil { return .sf }
    if settings.sfdxURLFile != nil { return .sfdxUrl }
    if settings.accessToken.isGiven || settings.instanceURL != nil { return .token }
    if settings.key.isGiven { return .jwt }
    if settings.password.isGiven { return .password }
    return settings.clientSecret.isGiven ? .clientCredentials : .browser
  }

  /// Which flows have an option; one of another flow is a mistake that would go unnoticed.
  private func checkOptions() throws {
    let options: [(name: String, isGiven: Bool, flows: [LoginFlow])] = [
      ("--redirect", settings.redirectURI != nil, [.browser]), ("--scope", settings.scope != nil, [.browser]),
      ("--prompt", settings.prompt != nil, [.browser]), ("--no-browser", !settings.opensBrowser, [.browser]),
      ("--timeout", settings.timeoutS != nil, [.browser]), ("--audience", settings.audience != nil, [.jwt]),
      ("--key-…", settings.key.isGiven, [.jwt]),
      ("--secret-…", settings.clientSecret.isGiven, [.clientCredentials, .password, .browser]),
      ("--password-…", settings.password.isGiven, [.password]), ("--instance", settings.instanceURL != nil, [.token]),
      ("--token-…", settings.accessToken.isGiven, [.token]), ("--sfdx-url-file", settings.sfdxURLFile != nil, [.sfdxUrl]),
      ("--sf", settings.sfAlias != nil, [.sf]),
      ("--url", settings.loginURL != nil, [.browser, .jwt, .clientCredentials, .password]),
      ("--client-id", settings.clientId != nil, [.browser, .jwt, .clientCredentials, .password]),
    ]
    for option in options where option.isGiven && !option.flows.contains(flow) {
      throw LoginUsageError("\(option.name) does not belong to the flow '\(flow.rawValue)'")
    }
    let needed: [(name: String, isGiven: Bool, flow: LoginFlow)] = [
      ("--instance", settings.instanceURL != nil, .token), ("--sfdx-url-file", settings.sfdxURLFile != nil, .sfdxUrl),
      ("--sf", settings.sfAlias != nil, .sf),
    ]
    for option in needed where option.flow == flow && !option.isGiven {
      throw LoginUsageError("the flow '\(flow.rawValue)' needs \(option.name)")
    }
  }

  // MARK: Values

  /// An option, the environment's word, or what the org's file says.
  private func value(_ option: String?, _ key: String) -> String? {
    option ?? around.variable(SignInKeys.variable(key)) ?? around.credentials[key]?.stringValue
  }

  private mutating func takeLoginURL() throws {
    let address = settings.org.flatMap { LoginPlan.isAddress($0) ? $0 : nil }
    let given = settings.loginURL ?? address
    let url = given ?? around.loginURL ?? value(nil, "loginUrl") ?? "https://login.salesforce.com"
    if let problem = LoginAddress.problem(url) {
      if given != nil { throw LoginUsageError(problem) }
      throw HostError(.invalidConfiguration, "the org's login address: \(problem)")
    }
    credentials["loginUrl"] = .string(url)
  }

  private mutating func takeClientId() throws {
    let inBootConfig = around.bootConfig["remoteAccessConsumerKey"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
    guard let id = value(settings.clientId, "clientId") ?? inBootConfig else {
      throw LoginUsageError(
        "the app's client id is missing: name it with --client-id or TUREEN_CLIENT_ID, or as remoteAccessConsumerKey in "
          + "bootconfig.json; Setup shows it as the app's consumer key")
    }
    credentials["clientId"] = .string(id)
  }

  private mutating func takeUser() throws {
    guard let user else { throw LoginUsageError("the flow '\(flow.rawValue)' needs --user, the name of the user who signs in") }
    credentials["username"] = .string(user)
  }

  /// Where a secret is kept: as the options say, else the environment, else the org's file.
  private mutating func take(
    _ key: String, _ place: LoginSettings.Place, _ what: String, _ option: String, isNeeded: Bool
  ) throws {
    let found = try optionPlace(key, place, option) ?? environmentPlace(key) ?? filePlace(key)
    guard let found else {
      guard isNeeded else { return }
      throw LoginUsageError(
        "the flow '\(flow.rawValue)' needs \(what): --\(option)-file, --\(option)-variable or --\(option)-command")
    }
    credentials[found.key] = found.value
  }

  private func optionPlace(
    _ key: String, _ place: LoginSettings.Place, _ option: String
  ) throws -> (key: String, value: JSONValue)? {
    let given = [place.file, place.variable, place.command].compactMap { $0 }
    guard given.count <= 1 else {
      throw LoginUsageError("give one of --\(option)-file, --\(option)-variable and --\(option)-command")
    }
    if let file = place.file { return (key + "File", .string(HostSettings.absolute(file))) }
    if let variable = place.variable { return (key + "Variable", .string(variable)) }
    guard let line = place.command else { return nil }
    guard let words = StoreKeySource.words(line) else { throw LoginUsageError("--\(option)-command names no program") }
    return (key + "Command", .array(words.map { .string($0) }))
  }

  private func environmentPlace(_ key: String) -> (key: String, value: JSONValue)? {
    let variable = SignInKeys.variable(key)
    if around.variable(variable) != nil { return (key + "Variable", .string(variable)) }
    if let file = around.variable(variable + "_FILE") { return (key + "File", .string(HostSettings.absolute(file))) }
    return around.variable(variable + "_COMMAND").map { (key + "Command", .string($0)) }
  }

  private func filePlace(_ key: String) -> (key: String, value: JSONValue)? {
    SignInKeys.places.map { key + $0 }.lazy.compactMap { name in around.credentials[name].map { (name, $0) } }.first
  }

  // MARK: Flows

  private mutating func planBrowser() throws {
    try takeLoginURL()
    try takeClientId()
    try take("clientSecret", settings.clientSecret, "a client secret", "secret", isNeeded: false)
    user = settings.user
    let redirect = value(settings.redirectURI, "redirectUri") ?? bootText("oauthRedirectURI") ?? LoopbackRedirect.standard
    guard !redirect.isEmpty, redirect.contains(":") else { throw LoginUsageError("--redirect: '\(redirect)' is not an address") }
    if LoopbackRedirect(redirect)?.isTaken == true {
      throw LoginUsageError("--redirect: \(redirect) is the address of a page of tureen's own; give the app another path")
    }
    var request = AuthorizationRequest(
      loginURL: credentials["loginUrl"]?.stringValue ?? "", clientId: credentials["clientId"]?.stringValue ?? "",
      redirectURI: redirect)
    request.scope = value(settings.scope, "scopes") ?? bootScopes
    request.loginHint = settings.user
    if let word = settings.prompt {
      guard let prompt = AuthorizationRequest.Prompt(rawValue: word) else {
        let known = AuthorizationRequest.Prompt.allCases.map(\.rawValue).joined(separator: ", ")
        throw LoginUsageError("--prompt: '\(word)' is not one of \(known)")
      }
      request.prompt = prompt
    }
    credentials["redirectUri"] = .string(redirect)
    credentials["scopes"] = request.scope.map { .string($0) }
    let timeoutS = settings.timeoutS ?? Tuning.loginTimeoutS
    guard timeoutS > 0 else { throw LoginUsageError("--timeout must be at least 1, not \(timeoutS)") }
    browser = BrowserPlan(request: request, opensBrowser: settings.opensBrowser, timeoutS: timeoutS)
  }

  private func bootText(_ key: String) -> String? { around.bootConfig[key]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } }

  private var bootScopes: String? {
    let scopes = around.bootConfig["oauthScopes"]?.arrayValue?.compactMap(\.stringValue) ?? []
    return scopes.isEmpty ? nil : scopes.joined(separator: " ")
  }

  private mutating func planToken() throws {
    user = settings.user
    let instance = settings.instanceURL ?? ""
    if let problem = LoginAddress.problem(instance) { throw LoginUsageError("--instance: \(problem)") }
    credentials["instanceUrl"] = .string(WebAddress(instance)?.origin ?? instance)
    if let place = try optionPlace("accessToken", settings.accessToken, "token") { credentials[place.key] = place.value }
  }
}
