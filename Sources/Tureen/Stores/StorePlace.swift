import Glibc
import JSON
import PostgresStore
import SmartStore
import Support

/// Where stores are kept: in a home, or in a database.
public enum StorePlace: Sendable, Equatable, CustomStringConvertible {
  /// An absolute path.
  case home(String)
  case database(StoreDatabase)

  /// A mistake in the argument of a command.
  public struct Problem: Error, CustomStringConvertible {
    public let description: String
  }

  /// Parses an argument: `home` for this home, `database` for the one of `TUREEN_STORE`, a folder, or `postgres://…`.
  /// - Parameters:
  ///   - text: The argument's value.
  ///   - home: This home.
  ///   - argument: Its name, for messages.
  ///   - mayBeNew: Whether a folder that does not exist is a new home. Its path must then have a slash, so that a mistyped word
  ///     does not become a folder.
  /// - Throws: ``Problem``; ``HostError`` if `TUREEN_STORE` is invalid. No message quotes an address: it may contain a password.
  public init(_ text: String, home: String, argument: String, mayBeNew: Bool) throws {
    switch text {
    case "home": self = .home(home)
    case "database":
      guard let database = try StoreDatabase.environment() else {
        throw Problem(description: "\(argument): 'database' is the one that TUREEN_STORE names, and TUREEN_STORE is not set")
      }
      self = .database(database)
    case _ where PostgresAddress.isAddress(text): self = .database(try StorePlace.database(text, argument))
    default:
      guard !text.contains("://") else {
        throw Problem(description: "\(argument): the address of a database begins with postgres://")
      }
      var info = stat()
      let exists = stat(text, &info) == 0
      guard !exists || info.st_mode & S_IFMT == S_IFDIR else {
        throw Problem(description: "\(argument): \(text) is not a folder")
      }
      guard exists || mayBeNew && text.contains("/") else {
        let hint = NearestName.find(text, among: ["home", "database"]).map { "; did you mean '\($0)'?" }
        throw Problem(
          description: "\(argument): there is no folder '\(text)'"
            + (hint ?? "; give 'home', 'database', the folder of a home, or postgres://…"))
      }
      self = .home(HostSettings.absolute(text))
    }
  }

  /// Other users of the machine see the arguments of a program, so they must not contain a password.
  private static func database(_ text: String, _ argument: String) throws -> StoreDatabase {
    let database: StoreDatabase
    do {
      database = try StoreDatabase(text)
    } catch let error as HostError {
      throw Problem(description: "\(argument): \(error.message)")
    }
    guard !database.address.hasPassword else {
      throw Problem(
        description: "\(argument): the address contains a password, which other users of this machine can see; give it in "
          + "TUREEN_STORE_PASSWORD_FILE or ~/.pgpass, or put the address into TUREEN_STORE and write 'database'")
    }
    return database
  }

  public var description: String {
    switch self {
    case .home(let path): path
    case .database(let database): database.description
    }
  }

  /// The name of the engine in lists.
  public var engine: String { if case .home = self { "sqlite" } else { "postgres" } }

  /// Whether both are the same folder or address.
  func isSame(as other: StorePlace) -> Bool {
    guard case .home(let a) = self, case .home(let b) = other else { return self == other }
    var first = stat(), second = stat()
    guard stat(a, &first) == 0, stat(b, &second) == 0 else { return a.hasSameBytes(as: b) }
    return first.st_dev == second.st_dev && first.st_ino == second.st_ino
  }
}

/// A store in a place.
public struct StoreAddress: Sendable, Equatable, CustomStringConvertible {
  public let place: StorePlace
  /// The names of the folders of the org and the user; empty for a global store.
  let org: String, user: String
  public let name: String
  public var isGlobal: Bool { org.isEmpty }

  public var description: String { "\(title) in \(place)" }

  /// The store and its owner, such as `store 'main' (acme/ada)`.
  var title: String {
    isGlobal
      ? "global store '\(name)'" : "store '\(name)' (\(OrgEntry.name(ofFolder: org))/\(OrgEntry.name(ofFolder: user)))"
  }

  /// Opens, lists and removes the owner's stores of the place. The key and the password are those of the environment.
  /// - Parameter looksOnly: Whether the stores are only looked at.
  func engines(looksOnly: Bool = false) throws -> any StoreEngines {
    switch place {
    case .home(let home):
      let key = try StoreKeySource.current()
      return SQLiteEngines(
        userDirectory: OrgDirectory(home: home).userFolder(org: org, user: user) + "/stores",
        globalDirectory: HostParts.globalDirectory(home), recovery: .refuse, key: { try key?.read() })
    case .database(let database):
      return database.engines(org: org, user: user, password: try StoreDatabase.passwordOfEnvironment(), looksOnly: looksOnly)
    }
  }
}
