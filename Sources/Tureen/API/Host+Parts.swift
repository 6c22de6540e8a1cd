import LuaBridge
import MobileSync
import RestClient
import SmartStore

/// The parts of a host, for programs in Swift. Stores and syncs belong to the user who is current when they are asked for.
extension Host {
  /// A store of the user, or one that all users of the home share. It is opened first if it is not open, with the soups that the
  /// configuration files name.
  /// - Throws: ``SmartStore/StoreError``; ``HostError``.
  public func store(named name: String = StoreRegistry.defaultStoreName, isGlobal: Bool = false) async throws -> Store {
    try await Blocking.offPool { try self.core().store(StoreReference(name: name, isGlobal: isGlobal)) }
  }

  /// The syncs of a store, those of the configuration files included.
  /// - Throws: ``SmartStore/StoreError``; ``HostError``.
  public func syncManager(
    forStore name: String = StoreRegistry.defaultStoreName, isGlobal: Bool = false
  ) async throws -> SyncManager {
    try await Blocking.offPool { try self.core().manager(StoreReference(name: name, isGlobal: isGlobal)) }
  }

  /// Stops the syncs at their next page, closes stores and connections, and waits for all of it; safe twice. What `async` code
  /// calls in place of ``shutdown()``, which blocks its thread.
  public func close() async { try? await Blocking.offPool { self.shutdown() } }

  /// The client of the org, as the user who is current with each request.
  public var restClient: any RestClient { HostClient(host: self) }
}

/// Passes each request on to the current user's client.
private struct HostClient: RestClient {
  let host: Host

  var apiVersion: String { (try? host.core().client.apiVersion) ?? HostParts.standardApiVersion }

  func send(_ request: RestRequest) async throws -> RestResponse {
    try await Blocking.offPool { try host.core().client }.send(request)
  }

  /// The client ends with its host.
  func shutdown() async {}
}
