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
    if let file = settings.credentialsFile { return try CredentialsSource.read(file, defaultURL: address) }
    if let address, let found = environment(address) { return found }
    let kept = "\(home)/orgs/\(StoreRegistry.folderName(org))/credentials.json"
    if FileSystem.exists(kept) { return try CredentialsSource.read(kept, defaultURL: address) }
    throw HostError(
      .noSuchOrg,
      address == nil
        ? "no org is known by the name '\(org)': give its address, or keep its credentials in \(kept)"
        : """
        nothing to sign in to \(org) with: set TUREEN_CLIENT_ID, TUREEN_CLIENT_SECRET, TUREEN_USERNAME and TUREEN_PASSWORD, \
        or name a file with TUREEN_CREDENTIALS
        """)
  }

  private func environment(_ address: String) -> Found? {
    guard let clientId = Environment["TUREEN_CLIENT_ID"] else { return nil }
    var fields: JSONObject = ["loginUrl": .string(address), "clientId": .string(clientId)]
    for (key, name) in [
      ("clientSecret", "TUREEN_CLIENT_SECRET"), ("username", "TUREEN_USERNAME"), ("password", "TUREEN_PASSWORD"),
      ("refreshToken", "TUREEN_REFRESH_TOKEN"),
    ] {
      fields[key] = Environment[name].map { .string($0) }
    }
    return CredentialsSource.credentials(fields)
  }

  /// Reads a credentials file.
  static func read(_ path: String, defaultURL: String?) throws -> Found {
    try PrivateFile.check(path, what: "the credentials file")
    guard let text = FileSystem.read(path) else {
      throw HostError(.invalidConfiguration, "\(path): the credentials file cannot be read")
    }
    do {
      let file = try JSONFile(name: path, text: text)
      guard var fields = file.value.objectValue else { throw file.problem("must hold an object") }
      let known = KnownKeys(["loginUrl", "clientId", "clientSecret", "username", "password", "refreshToken"])
      if let unknown = known.unknown(in: fields) { throw file.problem(key: unknown.key, unknown.complaint) }
      for (key, value) in fields {
        guard value.stringValue != nil else { throw file.problem(key: key, "must be a string, not \(value.kindName)") }
      }
      if let defaultURL { fields["loginUrl"] = fields["loginUrl"] ?? .string(defaultURL) }
      guard let found = credentials(fields) else {
        throw file.problem(
          "needs loginUrl and clientId, and either username and password, a refreshToken, or a clientSecret alone")
      }
      return found
    } catch let problem as JSONFile.Problem {
      throw HostError(.invalidConfiguration, problem.description)
    }
  }

  private static func credentials(_ fields: JSONObject) -> Found? {
    func text(_ key: String) -> String? { fields[key]?.stringValue }
    guard let url = text("loginUrl"), let clientId = text("clientId") else { return nil }
    let secret = text("clientSecret"), user = text("username")
    if let refreshToken = text("refreshToken") {
      return Found(
        credentials: .refreshToken(loginURL: url, clientId: clientId, clientSecret: secret, refreshToken: refreshToken),
        user: user ?? clientId)
    }
    if let user, let password = text("password") {
      return Found(
        credentials: .password(
          loginURL: url, clientId: clientId, clientSecret: secret ?? "", username: user, password: password), user: user)
    }
    guard let secret else { return nil }
    return Found(
      credentials: .clientCredentials(loginURL: url, clientId: clientId, clientSecret: secret), user: clientId)
  }
}
