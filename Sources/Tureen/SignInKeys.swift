import Glibc
import JSON
import Salesforce
import Support

/// The keys of a credentials file and their environment variables: `clientId` is `TUREEN_CLIENT_ID`.
enum SignInKeys {
  static let plain = [
    "flow", "loginUrl", "clientId", "username", "audience", "instanceUrl", "scopes", "redirectUri", "sfOrg",
  ]
  /// Secrets, each also with the suffix `File`, `Variable` or `Command`.
  static let secrets = ["clientSecret", "password", "refreshToken", "accessToken", "sfdxAuthUrl"]
  /// The private key, only with the suffix `File`, `Variable` or `Command`.
  static let privateKey = "privateKey"
  static let locationSuffixes = ["File", "Variable", "Command"]

  static var all: [String] {
    plain + secrets.flatMap { name in [name] + locationSuffixes.map { name + $0 } } + locationSuffixes.map { privateKey + $0 }
  }

  /// Returns true if the fields contain a secret that belongs to a single user, such as a password.
  static func areOfOneUser(_ fields: JSONObject) -> Bool {
    let ofUser = secrets.filter { $0 != "clientSecret" } + ["sfOrg"]
    return fields.contains { key, _ in ofUser.contains { key.hasPrefix($0) } }
  }

  /// Reads the fields from the environment.
  static func environment() -> JSONObject {
    var fields = JSONObject()
    for key in all where !key.hasSuffix("Variable") {
      fields[key] = Environment[variable(key)].map { .string($0) }
    }
    if Environment[variable(privateKey)] != nil { fields[privateKey + "Variable"] = .string(variable(privateKey)) }
    return fields
  }

  /// Returns the environment variable of a key: `clientSecretFile` becomes `TUREEN_CLIENT_SECRET_FILE`.
  static func variable(_ key: String) -> String {
    "TUREEN_" + key.reduce(into: "") { name, letter in name += letter.isUppercase ? "_\(letter)" : letter.uppercased() }
  }
}

/// A secret of a sign-in, or its location.
struct SignInSecret: Sendable {
  enum Location: Sendable, Equatable {
    case text(String)
    case file(String)
    case variable(String)
    case command([String])
  }

  let key: String
  let location: Location

  /// Reads `name`, `nameFile`, `nameVariable` or `nameCommand`; returns nil if none is present.
  /// - Parameter folder: The base folder of a relative file name; nil for the working directory.
  /// - Throws: ``HostError`` `.invalidConfiguration` if more than one is present or a command is invalid.
  init?(_ name: String, in fields: JSONObject, folder: String?) throws {
    let given = ([name] + SignInKeys.locationSuffixes.map { name + $0 }).filter { fields[$0] != nil }
    guard let key = given.first, let value = fields[key] else { return nil }
    guard given.count == 1 else {
      throw HostError(.invalidConfiguration, "'\(given[1])' cannot be combined with '\(key)': give one of them")
    }
    self.key = key
    switch (key.dropFirst(name.count), value) {
    case ("File", .string(let path)) where !path.isEmpty:
      location = .file(path.hasPrefix("/") ? path : folder.map { "\($0)/\(path)" } ?? path)
    case ("Variable", .string(let variable)) where !variable.isEmpty && !variable.contains("="): location = .variable(variable)
    case ("Command", _):
      guard case .command(let words)? = StoreKeySource("storeKeyCommand", value) else {
        throw HostError(.invalidConfiguration, "'\(key)' \(StoreKeySource.shape(of: "storeKeyCommand"))")
      }
      location = .command(words)
    case ("", .string(let text)) where !text.isEmpty: location = .text(text)
    default: throw HostError(.invalidConfiguration, "'\(key)' must be a string that is not empty")
    }
  }

  var isCommand: Bool { if case .command = location { true } else { false } }

  /// The location for messages, without the secret.
  var name: String {
    switch location {
    case .text: "'\(key)'"
    case .file(let path): "'\(key)' \(path)"
    case .variable(let variable): "'\(key)' \(variable)"
    case .command(let words): "'\(key)' \(words.first ?? "")"
    }
  }

  /// Reads the bytes, which are wiped when the result is released. Blocks: a command may take up to 60 s.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the location.
  func read() throws -> Secret {
    do {
      switch location {
      case .text(let text):
        return try text.withCString { try SecretReader.variable($0, limit: Tuning.connectionSecretBytes) }
      case .file(let path):
        try PrivateFile.check(path, what: "the file with a secret")
        return try SecretReader.file(path, limit: Tuning.connectionSecretBytes)
      case .variable(let variable): return try SecretReader.variable(getenv(variable), limit: Tuning.connectionSecretBytes)
      case .command(let words):
        return try SecretReader.command(words, timeoutMs: Tuning.keyCommandTimeoutMs, limit: Tuning.connectionSecretBytes)
      }
    } catch let problem as SecretReader.Problem {
      throw HostError(.invalidConfiguration, "\(name): \(problem.what)")
    }
  }

  /// Reads the secret as a single line of text.
  func text() throws -> String {
    let text = try read().withBytes { String(validating: $0, as: UTF8.self) }
    guard let text, text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
      throw HostError(.invalidConfiguration, "\(name) contains a line break or bytes that cannot be sent")
    }
    return text
  }

  /// Reads the secret as the private key of a JWT app.
  func signingKey() throws -> SigningKey {
    do {
      return try read().withBytes { try SigningKey(pem: $0) }
    } catch let problem as SigningKey.Problem {
      throw HostError(.invalidConfiguration, "\(name): \(problem)")
    }
  }
}
