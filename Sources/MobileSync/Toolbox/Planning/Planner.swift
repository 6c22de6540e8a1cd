import FoundationEssentials
import JSON
import RestClient
import SmartStore
import Support

/// Plans syncs up: runs them up to the doors of requests and of writes. It changes nothing.
public struct Planner: Sendable {
  /// The number of looks that need no permission.
  public static let mostLooks = 200

  let look: StoreLook
  private let client: any RestClient
  private let configuration: SyncConfiguration
  private let clock: ServerClock
  private let isRunning: @Sendable (Int64) -> Bool
  /// Returns the org and user of a sync, or its connection.
  private let server: @Sendable (SyncState) throws -> JSONObject
  /// Whether plans have hashes in place of values, because the store is encrypted.
  public var hidesValues = false

  /// - Parameters:
  ///   - look: The store, and the kinds of targets with their connections.
  ///   - client: Sends the looks, and makes the requests that are noted.
  ///   - configuration: Clocks and the logger.
  ///   - server: Returns the org and user of a sync, or its connection, as plans name them.
  public init(
    _ look: StoreLook, client: any RestClient, configuration: SyncConfiguration = SyncConfiguration(),
    server: @escaping @Sendable (SyncState) throws -> JSONObject = { _ in [:] }
  ) {
    self.init(look, client, configuration, ServerClock(now: configuration.now), server) { _ in false }
  }

  init(
    _ look: StoreLook, _ client: any RestClient, _ configuration: SyncConfiguration, _ clock: ServerClock,
    _ server: @escaping @Sendable (SyncState) throws -> JSONObject, isRunning: @escaping @Sendable (Int64) -> Bool
  ) {
    self.look = look
    self.client = client
    self.configuration = configuration
    self.clock = clock
    self.server = server
    self.isRunning = isRunning
  }

  /// Plans a sync up.
  /// - Parameters:
  ///   - reference: The sync's name or id.
  ///   - asksServer: Whether the run's looks are sent, so that conflicts are known; otherwise nothing is sent.
  ///   - maxLooks: The largest number of looks to send.
  /// - Throws: ``SyncError`` `.noSuchSync`, `.wrongSyncType`, `.tooMuch`; errors of the server if it is asked.
  public func plan(
    _ reference: SyncReference, asksServer: Bool = false, maxLooks: Int = Planner.mostLooks
  ) async throws -> SyncPlan {
    let store = look.store
    let found = try await store.read { snapshot -> (SyncState, String)? in
      guard try snapshot.soupExists(SyncsSoup.name), let state = try SyncsSoup.find(reference, in: snapshot) else { return nil }
      return (state, try snapshot.storeId() ?? "")
    }
    guard let (state, storeId) = found else { throw SyncError.noSuchSync(reference) }
    guard state.type == .syncUp else {
      let name = state.name ?? String(state.id)
      throw SyncError(
        .wrongSyncType, "sync \(name) brings records, and only what a sync sends is planned; see tureen verify \(name)")
    }
    let place = try PlanPlace(state, of: store, id: storeId, server: try server(state))
    var recorder = PlanRecorder(looks: false)
    try await run(state, recorder)
    if asksServer {
      let looks = recorder.requests.count { $0.purpose == .look || $0.purpose == .search }
      guard looks <= maxLooks else {
        throw SyncError(
          .tooMuch,
          "the plan needs \(looks) looks at the server, more than \(maxLooks); allow them with maxRequests, or plan "
            + "without asking the server")
      }
      recorder = PlanRecorder(looks: true)
      try await run(state, recorder)
    }
    return SyncPlan(
      id: UUID().uuidString.lowercased(), madeAt: configuration.now(), looked: asksServer, unknown: recorder.unknown,
      actor: store.history.actor, place: place, mergeMode: state.options.mergeMode, items: recorder.items,
      requests: recorder.requests, hasOpaqueRequests: recorder.hasOpaqueRequests, hidesValues: hidesValues)
  }

  /// Runs a sync up with a recorder in place of a server.
  /// - Parameter limit: The entries that are planned; nil for all.
  func run(_ state: SyncState, _ recorder: PlanRecorder, _ limit: PlanLimit? = nil) async throws {
    let meter = RequestMeter()
    var environment = environment(state, recorder, meter)
    environment.limit = limit
    let record = RunRecord(environment: environment, soups: [], state: state)
    let result = await meter.counting { () -> Result<Void, any Error> in
      do {
        if let target = try look.targets.families(state.target) {
          try await ParentChildrenUpRun(record, target).plan(recorder)
        } else {
          var run = try SyncUpRun(record)
          try await run.plan(recorder)
        }
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  private func environment(_ state: SyncState, _ recorder: PlanRecorder, _ meter: RequestMeter) -> RunEnvironment {
    let service = look.targets.service(of: .syncUp, state.target), control = RunControl()
    let intent = UploadIntent.plan(recorder)
    // No lease is held: nothing is written.
    let lease = HeldLease(
      Lease(name: SyncLeases.name(state.id), owner: "", fence: 0, expiresAt: 0), since: configuration.uptime(), control,
      configuration)
    return RunEnvironment(
      store: look.store, client: RunClient(client: client, service: service, meter: meter, clock: clock, intent: intent),
      service: service, targets: look.targets, control: control, configuration: configuration.running(state), clock: clock,
      held: lease, owners: UploadOwners(leases: SyncLeases(), isRunning: isRunning), history: RunHistory(nil), intent: intent,
      onUpdate: { _ in }, onConflicts: { _ in }, resolver: { _ in nil })
  }
}

extension SyncManager {
  /// Returns a planner of the manager's syncs.
  /// - Parameter server: Returns the org and user of a sync, or its connection, as plans name them.
  public func planner(server: @escaping @Sendable (SyncState) throws -> JSONObject = { _ in [:] }) -> Planner {
    Planner(look, client, configuration, clock, server) { self.isRunning($0) }
  }

  /// Says what a sync up would send, entry by entry and request by request, and changes nothing.
  /// - Parameters:
  ///   - reference: The sync's name or id.
  ///   - asksServer: Whether the run's looks are sent, so that conflicts are known; otherwise nothing is sent.
  /// - Throws: ``SyncError`` `.noSuchSync`, `.wrongSyncType`, `.tooMuch`; errors of the server if it is asked.
  public func planSync(_ reference: SyncReference, asksServer: Bool = false) async throws -> SyncPlan {
    try await planner().plan(reference, asksServer: asksServer)
  }
}
