import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// Where a sign-in's secrets come from: a file, the environment, or the home; never an argument.
struct CredentialsSource {
  struct Found: Sendable {
    let credentials: Credentials
    /// Who signs in, for the folder of the user's stores.
    let user: String
  }

  let settings: HostSettings
  let home: String

  /// - Throws: ``HostError`` `.noSuchOrg` when there is nothing to sign in with, `.invalidConfiguration` for a wrong file.
  func find(_ org: String) throws -> Found {
    let address = org.hasPrefix("http://") || org.hasPrefix("https://") ? org : nil
    if let file = settings.credentialsFile {
      return try CredentialsSource.read(file, defaultURL: address, allowsCommands: !settings.credentialsFileIsOfScript)
    }
    if let address, let found = try environment(address) { return found }
    let kept = "\(home)/orgs/\(StoreRegistry.folderName(org))/credentials.json"
    if FileSystem.exists(kept) { return try CredentialsSource.read(kept, defaultURL: address) }
    throw HostError(
      .noSuchOrg,
      address == nil
        ? "no org is known by the name '\(org)': give its address, or keep its credentials in \(kept)"
        : """
        nothing to sign in to \(org) with: set TUREEN_CLIENT_ID with TUREEN_USERNAME and TUREEN_PRIVATE_KEY_FILE, or with \
        TUREEN_CLIENT_SECRET, TUREEN_USERNAME and TUREEN_PASSWORD, or name a file with TUREEN_CREDENTIALS
        """)
  }

  private func environment(_ address: String) throws -> Found? {
    var fields = SignInKeys.environment()
    guard fields["clientId"] != nil || fields.keys.contains(where: { $0.hasPrefix("sfdxAuthUrl") }) else { return nil }
    fields["loginUrl"] = .string(address)
    do {
      return try CredentialsSource.credentials(fields, folder: nil)
    } catch let error as HostError {
      throw HostError(.invalidConfiguration, "the environment: \(error.message)")
    }
  }

  /// Reads a credentials file.
  /// - Parameter allowsCommands: Whether it may name programs that print secrets.
  static func read(_ path: String, defaultURL: String?, allowsCommands: Bool = true) throws -> Found {
    try PrivateFile.check(path, what: "the credentials file")
    guard let text = FileSystem.read(path) else {
      throw HostError(.invalidConfiguration, "\(path): the credentials file cannot be read")
    }
    do {
      let file = try JSONFile(name: path, text: text)
      guard var fields = file.value.objectValue else { throw file.problem("must hold an object") }
      if let unknown = KnownKeys(SignInKeys.all).unknown(in: fields) { throw file.problem(key: unknown.key, unknown.complaint) }
      for (key, value) in fields {
        if key.hasSuffix("Command") {
          guard allowsCommands else {
            throw file.problem(
              key: key, "names a program, and bootconfig.json names this file; name the file with TUREEN_CREDENTIALS")
          }
          continue
        }
        guard value.stringValue != nil else { throw file.problem(key: key, "must be a string, not \(value.kindName)") }
      }
      if let defaultURL { fields["loginUrl"] = fields["loginUrl"] ?? .string(defaultURL) }
      do {
        guard let found = try credentials(fields, folder: folder(of: path)) else { throw file.problem(Self.incomplete) }
        return found
      } catch let error as HostError {
        throw HostError(error.code, "\(path): \(error.message)")
      }
    } catch let problem as JSONFile.Problem {
      throw HostError(.invalidConfiguration, problem.description)
    }
  }

  private static func folder(of path: String) -> String? {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
  }

  private static let incomplete = """
    needs loginUrl and clientId, and a refreshToken, username with a privateKeyFile or a password, or a clientSecret alone; \
    or an sfdxAuthUrl
    """

  /// How to sign in, by `flow` or else by what is there.
  /// - Returns: Nil when something is missing.
  private static func credentials(_ fields: JSONObject, folder: String?) throws -> Found? {
    func plain(_ key: String) -> String? { fields[key]?.stringValue }
    func secret(_ name: String) throws -> SignInSecret? { try SignInSecret(name, in: fields, folder: folder) }
    let user = plain("username")
    guard let flow = try flow(fields, folder) else { return nil }
    if flow == .sfdxUrl {
      guard let secret = try secret("sfdxAuthUrl") else { return nil }
      let url = try sfdxURL(secret)
      return Found(credentials: url.credentials, user: user ?? url.credentials.clientId)
    }
    guard let url = plain("loginUrl"), let clientId = plain("clientId") else { return nil }
    if let problem = LoginAddress.problem(url) { throw HostError(.invalidConfiguration, "'loginUrl': \(problem)") }
    switch flow {
    case .refreshToken:
      guard let token = try secret("refreshToken")?.text() else { return nil }
      let own = try secret("clientSecret")?.text()
      return Found(
        credentials: .refreshToken(loginURL: url, clientId: clientId, clientSecret: own, refreshToken: token),
        user: user ?? clientId)
    case .jwt:
      guard let user, let key = try secret(SignInKeys.privateKey) else { return nil }
      // A wrong key is told at once; a program is run only to sign.
      if !key.isCommand { _ = try key.signingKey() }
      let bearer = JWTBearer(
        loginURL: url, clientId: clientId, username: user, audience: plain("audience"),
        key: SigningKeySource(name: key.name) { try key.signingKey() })
      return Found(credentials: .jwtBearer(bearer), user: user)
    case .password:
      guard let user, let password = try secret("password")?.text() else { return nil }
      let own = try secret("clientSecret")?.text() ?? ""
      return Found(
        credentials: .password(loginURL: url, clientId: clientId, clientSecret: own, username: user, password: password),
        user: user)
    case .clientCredentials:
      guard let own = try secret("clientSecret")?.text() else { return nil }
      return Found(credentials: .clientCredentials(loginURL: url, clientId: clientId, clientSecret: own), user: clientId)
    case .sfdxUrl: return nil
    }
  }

  private enum Flow: String, CaseIterable {
    case sfdxUrl, refreshToken, jwt, password, clientCredentials
  }

  private static func flow(_ fields: JSONObject, _ folder: String?) throws -> Flow? {
    if let name = fields["flow"]?.stringValue {
      guard let flow = Flow(rawValue: name) else {
        throw HostError(
          .invalidConfiguration,
          "'flow': '\(name)' is not one of \(Flow.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      return flow
    }
    func has(_ name: String) throws -> Bool { try SignInSecret(name, in: fields, folder: folder) != nil }
    if try has("sfdxAuthUrl") { return .sfdxUrl }
    if try has("refreshToken") { return .refreshToken }
    if try has(SignInKeys.privateKey) { return .jwt }
    if fields["username"] != nil, try has("password") { return .password }
    return try has("clientSecret") ? .clientCredentials : nil
  }

  /// Bare, or in JSON as the sf CLI writes it: `sfdxAuthUrl`, also inside `result`.
  private static func sfdxURL(_ secret: SignInSecret) throws -> SFDXAuthURL {
    let bytes = try secret.read().withBytes { String(decoding: $0, as: UTF8.self) }
    var text = String(bytes.drop { $0.isWhitespace })
    if text.hasPrefix("{") {
      let object = try? JSONValue(parsing: text)
      text = (object?["sfdxAuthUrl"] ?? object?["result"]?["sfdxAuthUrl"])?.stringValue ?? ""
    }
    while text.last?.isWhitespace == true { text.removeLast() }
    do {
      return try SFDXAuthURL(text)
    } catch {
      throw HostError(.invalidConfiguration, "\(secret.name): \(error)")
    }
  }
}
