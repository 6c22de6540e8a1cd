import LuaBridge
import MobileSync
import RestClient
import SmartStore

/// Gives Swift programs access to a host's parts. Stores and syncs belong to the user who is current at the time of the call.
extension Host {
  /// Returns a store of the current user, or a global store, which all users of the home share. If the store is not open, it is
  /// opened and the soups of the configuration files are registered.
  /// - Throws: ``SmartStore/StoreError``; ``HostError``.
  public func store(named name: String = StoreRegistry.defaultStoreName, isGlobal: Bool = false) async throws -> Store {
    try await Blocking.offPool { try self.core().store(StoreReference(name: name, isGlobal: isGlobal)) }
  }

  /// Returns the sync manager of a store, including the syncs of the configuration files.
  /// - Throws: ``SmartStore/StoreError``; ``HostError``.
  public func syncManager(
    forStore name: String = StoreRegistry.defaultStoreName, isGlobal: Bool = false
  ) async throws -> SyncManager {
    try await Blocking.offPool { try self.core().manager(StoreReference(name: name, isGlobal: isGlobal)) }
  }

  /// Stops syncs at their next page, closes stores and connections, and waits for the end of all. A second call has no effect.
  /// Use this in `async` code instead of ``shutdown()``, which blocks its thread.
  public func close() async { try? await Blocking.offPool { self.shutdown() } }

  /// A client of the org. It sends each request as the user who is current at that time.
  public var restClient: any RestClient { HostClient(host: self) }
}

/// Forwards each request to the current user's client.
private struct HostClient: RestClient {
  let host: Host

  var apiVersion: String { (try? host.core().client.apiVersion) ?? HostParts.standardApiVersion }

  func send(_ request: RestRequest) async throws -> RestResponse {
    try await Blocking.offPool { try host.core().client }.send(request)
  }

  /// Does nothing: the host shuts down its client.
  func shutdown() async {}
}
