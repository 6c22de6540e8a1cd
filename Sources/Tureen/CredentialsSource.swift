import JSON
import Logging
import RestClient
import Salesforce
import SmartStore
import Support

/// Finds credentials in a file, in the environment, or in the home. Secrets never come from arguments.
struct CredentialsSource {
  struct Found: Sendable {
    let credentials: Credentials
    let flow: SignInFlow
    /// The name of the user who signs in, which names the folder of the user's stores.
    let user: String

    /// False if another program owns the session: each process then asks that program, because a stored copy could outlive the
    /// owner's session.
    var keepsSession: Bool {
      switch credentials {
      case .external, .accessToken(_, .some): false
      default: true
      }
    }
  }

  let settings: HostSettings

  /// Returns the credentials that were chosen for this run and take precedence over the stored ones: those of the sf CLI, of
  /// the named file, or of the environment if the org is given by address. Returns nil if there are none.
  ///
  /// - Parameter org: An address, a name, or `sf:ALIAS`.
  /// - Throws: ``HostError`` `.noSuchOrg` if the sf CLI is not installed, `.invalidConfiguration` for an invalid file.
  func chosen(_ org: String) throws -> Found? {
    if org.hasPrefix(SalesforceCLI.prefix) { return try CredentialsSource.ofCLI(String(org.dropFirst(3))) }
    let address = CredentialsSource.address(org)
    if let file = settings.credentialsFile {
      return try CredentialsSource.read(file, defaultURL: address, allowsCommands: !settings.credentialsFileIsOfScript)
    }
    return try address.flatMap { try environment($0) }
  }

  /// Returns the token that the environment holds for the sf CLI; nil if it is for none of these addresses.
  func last(_ addresses: [String]) throws -> Found? {
    guard let variables = SalesforceVariables.current else { return nil }
    for address in addresses {
      if let found = try variables.found(for: address) { return found }
    }
    return nil
  }

  /// Returns the error for an org without any credentials.
  /// - Parameter scan: The orgs of the home.
  func missingCredentialsError(_ org: String, _ scan: OrgScan) -> HostError {
    guard CredentialsSource.address(org) != nil else { return scan.noSuchOrg(org) }
    return HostError(
      .noSuchOrg,
      """
      there are no credentials for \(org): sign in with `tureen login --url \(org)`, or set TUREEN_CLIENT_ID with \
      TUREEN_USERNAME and TUREEN_PRIVATE_KEY_FILE, or with TUREEN_CLIENT_SECRET, TUREEN_USERNAME and TUREEN_PASSWORD, or name a \
      file with TUREEN_CREDENTIALS
      """)
  }

  /// Returns the org if it is an address; nil if it is a name.
  static func address(_ org: String) -> String? { org.hasPrefix("http://") || org.hasPrefix("https://") ? org : nil }

  /// Returns the org that the environment's credentials are for; nil if they do not name one.
  static func environmentOrg() throws -> String? {
    let fields = SignInKeys.environment()
    if let url = fields["loginUrl"]?.stringValue ?? fields["instanceUrl"]?.stringValue { return url }
    if let alias = fields["sfOrg"]?.stringValue { return SalesforceCLI.prefix + alias }
    let keys = SignInFields(values: fields, folder: nil)
    return try inEnvironment { try keys.secret("sfdxAuthUrl").map { try SignInFields.sfdxURL($0).credentials.loginURL } }
  }

  private static func ofCLI(_ alias: String) throws -> Found {
    let cli = try SalesforceCLI(alias: alias)
    try cli.checkInstalled()
    return Found(credentials: cli.credentials, flow: .sf, user: SignInFields.cliUser)
  }

  private func environment(_ address: String) throws -> Found? {
    var fields = SignInKeys.environment()
    guard !fields.isEmpty else { return nil }
    fields["loginUrl"] = .string(address)
    return try CredentialsSource.inEnvironment { try SignInFields(values: fields, folder: nil).found() }
  }

  private static func inEnvironment<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as HostError where error.code == .invalidConfiguration {
      throw HostError(.invalidConfiguration, "the environment: \(error.message)")
    }
  }

  // MARK: Files

  /// Reads a credentials file.
  /// - Parameters:
  ///   - defaultURL: The login host if the file has none.
  ///   - defaultUser: The user name if the file has none and does not contain a secret that belongs to a single user.
  ///   - allowsCommands: True if the file may name programs that print secrets.
  static func read(
    _ path: String, defaultURL: String?, defaultUser: String? = nil, allowsCommands: Bool = true
  ) throws -> Found {
    try PrivateFile.check(path, what: "the credentials file")
    guard let text = FileSystem.read(path) else {
      throw HostError(.invalidConfiguration, "\(path): the credentials file cannot be read")
    }
    do {
      let file = try JSONFile(name: path, text: text)
      var values = try values(file, allowsCommands)
      if let defaultURL { values["loginUrl"] = values["loginUrl"] ?? .string(defaultURL) }
      if let defaultUser, !SignInKeys.areOfOneUser(values) { values["username"] = values["username"] ?? .string(defaultUser) }
      let fields = SignInFields(values: values, folder: folder(of: path))
      do {
        guard let found = try fields.found() else { throw file.problem(fields.incomplete) }
        return found
      } catch let error as HostError {
        throw HostError(error.code, "\(path): \(error.message)")
      }
    } catch let problem as JSONFile.Problem {
      throw HostError(.invalidConfiguration, problem.description)
    }
  }

  private static func values(_ file: JSONFile, _ allowsCommands: Bool) throws(JSONFile.Problem) -> JSONObject {
    guard let values = file.value.objectValue else { throw file.problem("must contain an object") }
    if let unknown = KnownKeys(SignInKeys.all).unknown(in: values) { throw file.problem(key: unknown.key, unknown.complaint) }
    for (key, value) in values {
      if key.hasSuffix("Command") {
        guard allowsCommands else {
          throw file.problem(
            key: key, "names a program, and bootconfig.json names this file; name the file with TUREEN_CREDENTIALS")
        }
        continue
      }
      guard value.stringValue != nil else { throw file.problem(key: key, "must be a string, not \(value.kindName)") }
    }
    return values
  }

  private static func folder(of path: String) -> String? {
    path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
  }
}
