import Glibc
import JSON
import PostgresStore
import SmartStore

/// The PostgreSQL database that keeps the stores, so that several machines can share them.
public struct StoreDatabase: Sendable, Equatable, CustomStringConvertible {
  /// May contain a password, which its description leaves out.
  let address: PostgresAddress

  /// - Parameter address: `postgres://user@host:port/database?option=value`.
  /// - Throws: ``HostError`` `.invalidConfiguration`, which does not quote the address: it may contain a password.
  public init(_ address: String) throws {
    do {
      self.address = try PostgresAddress(address)
    } catch {
      throw HostError(.invalidConfiguration, error.message)
    }
  }

  /// The address without a password.
  public var description: String { address.description }

  /// The settings of the password, apart from the address.
  static let passwordKeys = ["storePasswordFile", "storePasswordVariable", "storePasswordCommand"]

  /// Parses the value of a setting of the password.
  static func password(_ key: String, _ value: JSONValue) -> StoreKeySource? { StoreKeySource(keyWord(key), value) }

  /// Describes the right form of a setting of the password.
  static func shape(of key: String) -> String { StoreKeySource.shape(of: keyWord(key)) }

  /// The setting of the stores' key that has the same form.
  private static func keyWord(_ key: String) -> String { "storeKey" + key.dropFirst("storePassword".count) }

  /// Reads `TUREEN_STORE`.
  static func environment() throws -> StoreDatabase? {
    guard let address = Environment["TUREEN_STORE"] else { return nil }
    do {
      return try StoreDatabase(address)
    } catch let error as HostError {
      throw HostError(.invalidConfiguration, "TUREEN_STORE: \(error.message)")
    }
  }

  /// Reads `TUREEN_STORE_PASSWORD` (which contains the password), `TUREEN_STORE_PASSWORD_FILE` or
  /// `TUREEN_STORE_PASSWORD_COMMAND`.
  /// - Throws: ``HostError`` `.invalidConfiguration` if more than one is set or the command is invalid.
  static func passwordOfEnvironment() throws -> StoreKeySource? {
    var found: [(name: String, source: StoreKeySource)] = []
    if Environment["TUREEN_STORE_PASSWORD"] != nil {
      found.append(("TUREEN_STORE_PASSWORD", .variable("TUREEN_STORE_PASSWORD")))
    }
    if let path = Environment["TUREEN_STORE_PASSWORD_FILE"] { found.append(("TUREEN_STORE_PASSWORD_FILE", .file(path))) }
    if let line = Environment["TUREEN_STORE_PASSWORD_COMMAND"] {
      guard let words = StoreKeySource.words(line) else {
        throw HostError(
          .invalidConfiguration, "TUREEN_STORE_PASSWORD_COMMAND \(StoreKeySource.shape(of: "storeKeyCommand"))")
      }
      found.append(("TUREEN_STORE_PASSWORD_COMMAND", .command(words)))
    }
    guard found.count < 2 else {
      throw HostError(.invalidConfiguration, "\(found.map(\.name).joined(separator: " and ")) are set: one password is enough")
    }
    return found.first?.source
  }

  /// Returns what opens the stores of a user, and the global ones.
  /// - Parameters:
  ///   - password: Read before each connection, so that a renewed one is found.
  ///   - looksOnly: Whether the stores are only looked at.
  func engines(org: String, user: String, password: StoreKeySource?, looksOnly: Bool = false) -> any StoreEngines {
    postgresEngines(org: org, user: user, password: password, looksOnly: looksOnly)
  }

  func postgresEngines(org: String, user: String, password: StoreKeySource?, looksOnly: Bool = false) -> PostgresEngines {
    PostgresEngines(connector(password), org: org, user: user, looksOnly: looksOnly)
  }

  /// - Parameter password: Read before each connection.
  func connector(_ password: StoreKeySource?) -> PostgresConnector {
    PostgresConnector(address, password: { try password?.password() })
  }
}

extension StoreKeySource {
  /// Reads the password of the stores' database. Blocks: a command may take up to 60 s.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the file, variable or program, but not quoting what was read.
  func password() throws -> String {
    let name: String, read: () throws -> Secret
    switch self {
    case .file(let path):
      name = "the password file \(path)"
      read = {
        try PrivateFile.check(path, what: "the password file")
        return try SecretReader.file(path)
      }
    case .variable(let variable):
      name = "the variable \(variable) with the database's password"
      read = { try SecretReader.variable(getenv(variable)) }
    case .command(let words):
      name = "the command \(words.first ?? "") for the database's password"
      read = { try SecretReader.command(words, timeoutMs: Tuning.keyCommandTimeoutMs) }
    }
    do {
      return try read().withBytes { String(decoding: $0, as: UTF8.self) }
    } catch let error as SecretReader.Problem {
      throw HostError(.invalidConfiguration, "\(name): \(error.what)")
    }
  }
}
