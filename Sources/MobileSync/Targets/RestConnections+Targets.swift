import RestClient

/// The host's connections for targets that name one; nil if definitions are read without a host.
extension RestConnections? {
  /// Checks that the host knows a connection. For new definitions.
  /// - Parameter label: The target's name in messages.
  /// - Throws: ``SyncError`` `.invalidTarget` at `connection`.
  package func check(_ name: String, label: String) throws(SyncError) {
    guard let connections = self, !connections.knows(name) else { return }
    throw SyncError(.invalidTarget, "\(label): \(connections.unknown(name))").at(.key("connection"))
  }

  /// Returns a connection.
  /// - Throws: ``SyncError`` `.invalidTarget` for a connection that cannot be used,
  ///   `.internalError` without a host; `RestError` `.shutDown`.
  package func connection(named name: String, label: String) throws -> RestConnection {
    guard let connections = self else { throw SyncError(.internalError, "\(label): the host has no connections") }
    do {
      return try connections.connection(named: name)
    } catch let problem as RestConnections.Problem {
      throw SyncError(.invalidTarget, "\(label): \(problem)")
    }
  }
}
