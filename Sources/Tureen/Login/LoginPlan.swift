import JSON
import RestClient
import Salesforce

/// Decides how to sign in. Values come from the options, the environment, the org's files, and `bootconfig.json`, in this order.
/// A plain value that reads no files and sends no requests.
struct LoginPlan: Sendable {
  /// The sources for values that the options do not give.
  struct Sources: Sendable {
    /// Reads an environment variable.
    var variable: @Sendable (String) -> String? = { Environment[$0] }
    /// The login URL of the org that the options name, if it is known.
    var loginURL: String?
    /// The members of that org's credentials file.
    var credentials = JSONObject()
    var bootConfig = JSONObject()
  }

  let flow: LoginFlow
  /// The members of the credentials file to store: everything that the next renewal needs, except secrets.
  private(set) var credentials = JSONObject()
  /// The user who is expected to sign in.
  private(set) var user: String?
  /// The name for the org; nil derives it from the host.
  let orgName: String?
  private(set) var browser: BrowserPlan?

  /// A sign-in in a browser.
  struct BrowserPlan: Sendable {
    let request: AuthorizationRequest
    let opensBrowser: Bool
    let timeoutS: Int
  }

  private let settings: LoginSettings
  private let sources: Sources

  /// - Throws: ``LoginUsageError`` for invalid or conflicting options, ``HostError`` `.invalidConfiguration` for invalid files.
  init(_ settings: LoginSettings, _ sources: Sources) throws {
    self.settings = settings
    self.sources = sources
    flow = try LoginPlan.flow(settings)
    let isAddress = settings.org.map(LoginPlan.isAddress) ?? false
    orgName = isAddress ? nil : settings.org
    try checkOptions()
    user = settings.user ?? sources.variable(SignInKeys.variable("username")) ?? sources.credentials["username"]?.stringValue
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

  /// Refuses options that do not belong to the flow, which would otherwise be ignored silently.
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

  /// Returns the value of an option, else of the environment, else of the org's file.
  private func value(_ option: String?, _ key: String) -> String? {
    option ?? sources.variable(SignInKeys.variable(key)) ?? sources.credentials[key]?.stringValue
  }

  private mutating func takeLoginURL() throws {
    let address = settings.org.flatMap { LoginPlan.isAddress($0) ? $0 : nil }
    let given = settings.loginURL ?? address
    let url = given ?? sources.loginURL ?? value(nil, "loginUrl") ?? "https://login.salesforce.com"
    if let problem = LoginAddress.problem(url) {
      if given != nil { throw LoginUsageError(problem) }
      throw HostError(.invalidConfiguration, "the org's login address: \(problem)")
    }
    credentials["loginUrl"] = .string(url)
  }

  private mutating func takeClientId() throws {
    let inBootConfig = sources.bootConfig["remoteAccessConsumerKey"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
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

  /// Records the location of a secret: that of the options, else of the environment, else of the org's file.
  private mutating func take(
    _ key: String, _ location: LoginSettings.SecretLocation, _ what: String, _ option: String, isNeeded: Bool
  ) throws {
    let found = try optionLocation(key, location, option) ?? environmentLocation(key) ?? fileLocation(key)
    guard let found else {
      guard isNeeded else { return }
      throw LoginUsageError(
        "the flow '\(flow.rawValue)' needs \(what): --\(option)-file, --\(option)-variable or --\(option)-command")
    }
    credentials[found.key] = found.value
  }

  private func optionLocation(
    _ key: String, _ location: LoginSettings.SecretLocation, _ option: String
  ) throws -> (key: String, value: JSONValue)? {
    let given = [location.file, location.variable, location.command].compactMap { $0 }
    guard given.count <= 1 else {
      throw LoginUsageError("give one of --\(option)-file, --\(option)-variable and --\(option)-command")
    }
    if let file = location.file { return (key + "File", .string(HostSettings.absolute(file))) }
    if let variable = location.variable { return (key + "Variable", .string(variable)) }
    guard let line = location.command else { return nil }
    guard let words = StoreKeySource.words(line) else { throw LoginUsageError("--\(option)-command does not name a program") }
    return (key + "Command", .array(words.map { .string($0) }))
  }

  private func environmentLocation(_ key: String) -> (key: String, value: JSONValue)? {
    let variable = SignInKeys.variable(key)
    if sources.variable(variable) != nil { return (key + "Variable", .string(variable)) }
    if let file = sources.variable(variable + "_FILE") { return (key + "File", .string(HostSettings.absolute(file))) }
    return sources.variable(variable + "_COMMAND").map { (key + "Command", .string($0)) }
  }

  private func fileLocation(_ key: String) -> (key: String, value: JSONValue)? {
    SignInKeys.locationSuffixes.map { key + $0 }.lazy.compactMap { name in sources.credentials[name].map { (name, $0) } }.first
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
    var request = try AuthorizationRequest(
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

  private func bootText(_ key: String) -> String? { sources.bootConfig[key]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } }

  private var bootScopes: String? {
    let scopes = sources.bootConfig["oauthScopes"]?.arrayValue?.compactMap(\.stringValue) ?? []
    return scopes.isEmpty ? nil : scopes.joined(separator: " ")
  }

  private mutating func planToken() throws {
    user = settings.user
    let instance = settings.instanceURL ?? ""
    if let problem = LoginAddress.problem(instance) { throw LoginUsageError("--instance: \(problem)") }
    credentials["instanceUrl"] = .string(WebAddress(instance)?.origin ?? instance)
    if let location = try optionLocation("accessToken", settings.accessToken, "token") {
      credentials[location.key] = location.value
    }
  }
}
