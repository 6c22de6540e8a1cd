import JSON
import Support
import Synchronization

/// Holds the named servers of one host and creates each on first use. Threads: any.
public final class RestConnections: Sendable {
  /// Why a connection does not exist or is unusable.
  public struct Problem: Error, Sendable, CustomStringConvertible {
    public let description: String
  }

  private struct State {
    var made: [String: RestConnection] = [:]
    var isClosed = false
    var isOnline = true
  }

  private let settings: [ConnectionSettings]
  private let environment: RestConnection.Environment
  private let state = Mutex(State())

  public init(_ settings: [ConnectionSettings], environment: RestConnection.Environment) {
    self.settings = settings
    self.environment = environment
  }

  public var names: [String] { settings.map(\.name) }

  /// - Parameter name: Compared ignoring case.
  public func knows(_ name: String) -> Bool { settings.contains { $0.name.equalsIgnoringCase(name) } }

  /// Returns the settings of a connection; nil for an unknown name.
  ///
  /// - Parameter name: Compared ignoring case.
  package func settings(of name: String) -> ConnectionSettings? { settings.first { $0.name.equalsIgnoringCase(name) } }

  /// Returns a message that the connection does not exist, with the name that was probably meant.
  package func unknown(_ name: String) -> String {
    let hint =
      settings.isEmpty ? "; no connections are defined: add it to connections.json" : NearestName.hint(for: name, among: names)
    return "connection '\(name)' is not known\(hint)"
  }

  /// Returns a connection, created on first use.
  ///
  /// - Parameter name: Compared ignoring case.
  /// - Throws: ``Problem`` for an unknown name or an unusable `caFile`; ``RestError`` `.shutDown`.
  public func connection(named name: String) throws -> RestConnection {
    guard let found = settings(of: name) else { throw Problem(description: unknown(name)) }
    return try state.withLock { state in
      guard !state.isClosed else { throw RestError.shutDown(outcome: .notSent) }
      if let made = state.made[found.name] { return made }
      let made = RestConnection(found, authorities: try Self.authorities(of: found).map { [$0] } ?? [], environment: environment)
      made.report(isOnline: state.isOnline)
      state.made[found.name] = made
      return made
    }
  }

  /// Reads the certificates of a connection's `caFile`; nil without one.
  ///
  /// - Throws: ``Problem``, which names the file.
  public static func authorities(of settings: ConnectionSettings) throws(Problem) -> TrustedCertificates? {
    guard let file = settings.caFile else { return nil }
    guard let text = FileSystem.read(file) else {
      throw Problem(description: "connection '\(settings.name)': 'caFile' \(file) cannot be read")
    }
    guard let found = TrustedCertificates(pem: text) else {
      throw Problem(description: "connection '\(settings.name)': 'caFile' \(file) contains no PEM certificate, or an invalid one")
    }
    return found
  }

  /// Reports whether the machine has a network; see ``RestConnection/report(isOnline:)``.
  public func report(isOnline: Bool) {
    let made = state.withLock { state in
      state.isOnline = isOnline
      return Array(state.made.values)
    }
    for connection in made { connection.report(isOnline: isOnline) }
  }

  /// Shuts all connections down. Safe to call twice.
  public func shutdown() async {
    let made = state.withLock { state in
      state.isClosed = true
      defer { state.made = [:] }
      return Array(state.made.values)
    }
    for connection in made { await connection.shutdown() }
  }
}
