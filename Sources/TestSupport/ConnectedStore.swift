import Logging
import MobileSync
import RestClient
import SmartStore

/// A store, named connections, and a sync manager that uses them. Logs nothing.
package final class ConnectedStore: @unchecked Sendable {  // store and manager are replaced by the test's own task alone
  package let temporary: TemporaryStore
  package let connections: RestConnections
  package private(set) var manager: SyncManager
  private let service: any SyncService
  private let configuration: SyncConfiguration

  package var store: Store { temporary.store }

  /// - Parameter service: The service whose targets use the connections.
  package init(
    _ temporary: TemporaryStore, _ connections: RestConnections, _ service: any SyncService, _ given: SyncConfiguration
  ) throws {
    var configuration = given
    configuration.logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    self.temporary = temporary
    self.connections = connections
    self.service = service
    self.configuration = configuration
    manager = try ConnectedStore.manager(temporary.store, service, configuration)
  }

  private static func manager(
    _ store: Store, _ service: any SyncService, _ configuration: SyncConfiguration
  ) throws -> SyncManager {
    try SyncManager(store: store, client: NoOrg(), targets: TargetRegistry([service]), configuration: configuration)
  }

  /// Reopens the file with another manager, as after a restart of the process.
  package func reopen() async throws {
    await manager.shutdown()
    try temporary.reopen()
    manager = try ConnectedStore.manager(temporary.store, service, configuration)
  }

  package func close() async {
    await manager.shutdown()
    await connections.shutdown()
  }
}

/// Replaces the org, which these syncs do not use.
private struct NoOrg: RestClient {
  struct Asked: Error, CustomStringConvertible { let description = "a request went to the org" }

  var apiVersion: String { "v0" }
  func send(_ request: RestRequest) async throws -> RestResponse { throw Asked() }
  func shutdown() async {}
}
