import Glibc
import JSON
import Salesforce
import Support

/// The keys of a credentials file, which the environment has as well: `clientId` is `TUREEN_CLIENT_ID` there.
enum SignInKeys {
  static let plain = [
    "flow", "loginUrl", "clientId", "username", "audience", "instanceUrl", "scopes", "redirectUri", "sfOrg",
  ]
  /// Each also with `File`, `Variable` or `Command` behind it.
  static let secrets = ["clientSecret", "password", "refreshToken", "accessToken", "sfdxAuthUrl"]
  /// Never given in place: with `File`, `Variable` or `Command` only.
  static let privateKey = "privateKey"
  static let places = ["File", "Variable", "Command"]

  static var all: [String] {
    plain + secrets.flatMap { name in [name] + places.map { name + $0 } } + places.map { privateKey + $0 }
  }

  /// Whether a file holds something that only one user has, such as a password: it is not for others.
  static func areOfOneUser(_ fields: JSONObject) -> Bool {
    let ofUser = secrets.filter { $0 != "clientSecret" } + ["sfOrg"]
    return fields.contains { key, _ in ofUser.contains { key.hasPrefix($0) } }
  }

  /// What the environment says.
  static func environment() -> JSONObject {
    var fields = JSONObject()
    for key in all where !key.hasSuffix("Variable") {
      fields[key] = Environment[variable(key)].map { .string($0) }
    }
    if Environment[variable(privateKey)] != nil { fields[privateKey + "Variable"] = .string(variable(privateKey)) }
    return fields
  }

  /// `clientSecretFile` is `TUREEN_CLIENT_SECRET_FILE`.
  static func variable(_ key: String) -> String {
    "TUREEN_" + key.reduce(into: "") { name, letter in name += letter.isUppercase ? "_\(letter)" : letter.uppercased() }
  }
}

/// One secret of a sign-in, or where it is kept.
struct SignInSecret: Sendable {
  enum Place: Sendable, Equatable {
    case text(String)
    case file(String)
    case variable(String)
    case command([String])
  }

  let key: String
  let place: Place

  /// Finds `name`, `nameFile`, `nameVariable` or `nameCommand`; nil when none is there.
  /// - Parameter folder: What the name of a file is relative to; nil is the working directory.
  /// - Throws: ``HostError`` `.invalidConfiguration` for more than one, and for a command that is not valid.
  init?(_ name: String, in fields: JSONObject, folder: String?) throws {
    let given = ([name] + SignInKeys.places.map { name + $0 }).filter { fields[$0] != nil }
    guard let key = given.first, let value = fields[key] else { return nil }
    guard given.count == 1 else {
      throw HostError(.invalidConfiguration, "'\(given[1])' stands beside '\(key)': give one of them")
    }
    self.key = key
    switch (key.dropFirst(name.count), value) {
    case ("File", .string(let path)) where !path.isEmpty:
      place = .file(path.hasPrefix("/") ? path : folder.map { "\($0)/\(path)" } ?? path)
    case ("Variable", .string(let variable)) where !variable.isEmpty && !variable.contains("="): place = .variable(variable)
    case ("Command", _):
      guard case .command(let words)? = StoreKeySource("storeKeyCommand", value) else {
        throw HostError(.invalidConfiguration, "'\(key)' \(StoreKeySource.shape(of: "storeKeyCommand"))")
      }
      place = .command(words)
    case ("", .string(let text)) where !text.isEmpty: place = .text(text)
    default: throw HostError(.invalidConfiguration, "'\(key)' must be a string that is not empty")
    }
  }

  var isCommand: Bool { if case .command = place { true } else { false } }

  /// For messages; never the secret.
  var name: String {
    switch place {
    case .text: "'\(key)'"
    case .file(let path): "'\(key)' \(path)"
    case .variable(let variable): "'\(key)' \(variable)"
    case .command(let words): "'\(key)' \(words.first ?? "")"
    }
  }

  /// The bytes, wiped when they are let go of. Blocks: a command may take up to 60 s.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the place.
  func read() throws -> Secret {
    do {
      switch place {
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

  /// The secret as text on one line.
  func text() throws -> String {
    let text = try read().withBytes { String(validating: $0, as: UTF8.self) }
    guard let text, text.utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else {
      throw HostError(.invalidConfiguration, "\(name) holds a line break or bytes that cannot be sent")
    }
    return text
  }

  /// The secret as the key of a JWT app.
  func signingKey() throws -> SigningKey {
    do {
      return try read().withBytes { try SigningKey(pem: $0) }
    } catch let problem as SigningKey.Problem {
      throw HostError(.invalidConfiguration, "\(name): \(problem)")
    }
  }
}
