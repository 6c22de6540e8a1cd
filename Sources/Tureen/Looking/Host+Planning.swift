import JSON
import LuaBridge
import MobileSync
import Support

/// Implements the action that plans syncs up.
extension Host {
  /// Plans a sync up, and answers when it is done. A host that only looks into its stores plans at once.
  func plan(_ call: ActionCall, _ core: HostCore, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    let name = call.value("syncName")?.stringValue
    let reference: SyncReference = try name.map { .name($0) } ?? .id(call.integer("syncId"))
    let asksServer = call.value("server")?.boolValue ?? false
    let most = call.value("maxRequests")?.integerValue.map { Int(clamping: $0) } ?? Planner.mostLooks
    if asksServer { try core.requireServer() }
    try answer(call, core, onUpdate) { planner in
      try await planner.plan(reference, asksServer: asksServer, maxLooks: most).json
    }
  }

  /// Answers a call with what a planner of its store says: at once in a host that only looks into its stores, and if nothing is
  /// asked; else from a task of the sync manager.
  /// - Throws: ``SyncError``.
  func answer(
    _ call: ActionCall, _ core: HostCore, atOnce: Bool = false, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void,
    _ body: @escaping @Sendable (Planner) async throws -> JSONObject
  ) throws {
    guard !atOnce, !core.parts.settings.leavesStores else {
      let planner = try core.planner(call.store)
      do {
        return onUpdate(.finished(JSONValue.object(try Blocking.run { try await body(planner) }).serialized()))
      } catch {
        throw SyncError(wrapping: error)
      }
    }
    let manager = try core.manager(call.store), planner = core.planner(manager)
    manager.launch {
      do {
        onUpdate(.finished(JSONValue.object(try await body(planner)).serialized()))
      } catch {
        onUpdate(.failed(SyncError(wrapping: error)))
      }
    }
  }
}

extension HostCore {
  /// - Throws: ``SyncError`` `.invalidArguments` in a host that only looks into its stores.
  func requireServer() throws {
    guard !parts.settings.looksOnly else {
      throw SyncError(.invalidArguments, "server: this host only looks into its stores and asks no server")
    }
  }

  /// Returns a planner that only looks into a store.
  func planner(_ reference: StoreReference) throws -> Planner {
    let look = StoreLook(
      try store(reference), targets: .host(parts.connections, assets: parts.assets), now: parts.clock.milliseconds)
    var configuration = SyncConfiguration()
    configuration.now = parts.clock.milliseconds
    var planner = Planner(look, client: client, configuration: configuration, server: planServer)
    planner.hidesValues = parts.settings.storeKey != nil
    return planner
  }

  /// Returns a planner of a manager's syncs.
  func planner(_ manager: SyncManager) -> Planner {
    var planner = manager.planner(server: planServer)
    planner.hidesValues = parts.settings.storeKey != nil
    return planner
  }

  /// Names the server of a sync as plans do: the org and user, or the connection with a hash of its URL.
  var planServer: @Sendable (SyncState) throws -> JSONObject {
    let org = user.org, connections = connections
    return { state in
      guard let name = state.connection else { return ["org": .string(org.folder), "userId": .string(org.userFolder)] }
      let url = connections.settings(of: name)?.baseURL ?? ""
      return ["connection": .string(name), "url": .string("sha256:" + (try Digest.sha256Hex(url)))]
    }
  }
}
