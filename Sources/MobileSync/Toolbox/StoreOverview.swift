import JSON
import SmartStore

/// The figures of a soup.
public struct SoupOverview: Sendable, Equatable {
  public let name: String
  public let indexSpecs: [IndexSpec]
  public internal(set) var entries = 0
  /// The dirty entries by action and by state; each sum is their number.
  public internal(set) var actions: [DirtyEntry.Action: Int] = [:]
  public internal(set) var states: [DirtyEntry.State: Int] = [:]
  /// Conflicts that the last run of their sync has found.
  public internal(set) var newConflicts = 0
  /// When the waiting entry that was left alone the longest was last written, in ms since 1970 UTC; nil if none waits.
  public internal(set) var oldestWaiting: Int64?

  public var dirty: Int { actions.values.reduce(0, +) }
  public func count(_ state: DirtyEntry.State) -> Int { states[state] ?? 0 }

  public var json: JSONObject {
    func number(_ value: Int) -> JSONValue { .integer(Int64(value)) }
    return [
      "soup": .string(name), "entries": number(entries), "dirty": number(dirty), "created": number(actions[.create] ?? 0),
      "updated": number(actions[.update] ?? 0), "deleted": number(actions[.delete] ?? 0), "waiting": number(count(.waiting)),
      "skipped": number(count(.skipped)), "held": number(count(.held)), "conflicts": number(count(.conflict)),
      "newConflicts": number(newConflicts), "refused": number(count(.refused)), "inDoubt": number(count(.inDoubt)),
      "oldestWaiting": oldestWaiting.map { .integer($0) } ?? .null, "indexes": .array(indexSpecs.map(\.json)),
    ]
  }
}

/// A sync as its store has it, and whether its last run still goes on.
public struct SyncOverview: Sendable {
  public let state: SyncState
  /// The process that runs it; nil if none does.
  public let owner: (pid: Int32, host: String?)?
  /// Whether the sync is `RUNNING` although its process died. The row stays as it is.
  public let isAbandoned: Bool
  /// When the last run ended that succeeded, if the history has it.
  var historicSuccess: Int64?
  /// When the last comparison with the server began that found no difference, in ms since 1970 UTC; nil if the history has none.
  public internal(set) var lastVerified: Int64?

  /// The status as people see it.
  public var status: String { isAbandoned ? SyncOverview.abandoned : state.status.rawValue }
  public static let abandoned = "ABANDONED"

  /// When the last run ended that succeeded, in ms since 1970 UTC; nil if that is not known, as after a failure without a
  /// history.
  public var lastSuccess: Int64? { state.status == .done ? state.endTime : historicSuccess }

  public var json: JSONObject {
    var json = state.scriptJSON
    json["status"] = .string(status)
    json["lastSuccess"] = lastSuccess.map { .integer($0) } ?? .null
    json["lastVerified"] = lastVerified.map { .integer($0) } ?? .null
    json["owner"] =
      owner.map { ["pid": .integer(Int64($0.pid)), "host": $0.host.map { .string($0) } ?? .null] } ?? .null
    return json
  }
}

/// What a store holds: soups with what waits in them, and syncs with their last runs.
public struct StoreOverview: Sendable {
  public let store: (name: String, isGlobal: Bool)
  /// `sqlite` or `postgres`.
  public let engine: String
  public let bytes: Int64
  /// The size of SQLite's write-ahead log; nil for another engine.
  public let walBytes: Int64?
  /// How much of its history the store keeps.
  public let history: HistoryLevel
  public internal(set) var soups: [SoupOverview]
  public internal(set) var syncs: [SyncOverview]

  public var json: JSONObject {
    [
      "storeName": .string(store.name), "isGlobalStore": .bool(store.isGlobal), "engine": .string(engine),
      "bytes": .integer(bytes), "walBytes": walBytes.map { .integer($0) } ?? .null, "history": .string(history.rawValue),
      "soups": .array(soups.map { .object($0.json) }), "syncs": .array(syncs.map { .object($0.json) }),
    ]
  }
}

extension StoreLook {
  /// Returns the overview of the store.
  public func overview() throws -> StoreOverview {
    let sizes = try store.sizes()
    // A history that cannot be read hides nothing else.
    let successes = (try? store.readBlocking { try HistoryReader.successes($0) }) ?? [:]
    let verified = (try? store.readBlocking { try HistoryReader.verifications($0) }) ?? [:]
    let (soups, syncs) = try store.readBlocking { snapshot in
      let reader = try DirtyReader(self, snapshot)
      let names = try snapshot.soupNames().filter { $0 != SyncsSoup.name }
      return (
        try names.map { try soup($0, reader, snapshot) }, try reader.syncs.map { try sync($0, snapshot, successes, verified) }
      )
    }
    return StoreOverview(
      store: (store.name, store.isGlobal), engine: sizes.walBytes == nil ? "postgres" : "sqlite", bytes: sizes.bytes,
      walBytes: sizes.walBytes, history: level, soups: soups, syncs: syncs)
  }

  /// Returns the figures of one soup.
  /// - Throws: `StoreError` `.noSuchSoup`.
  public func overview(ofSoup name: String) throws -> SoupOverview {
    try store.readBlocking { try soup(name, DirtyReader(self, $0), $0) }
  }

  private func soup(_ name: String, _ reader: DirtyReader, _ snapshot: StoreSnapshot) throws -> SoupOverview {
    var soup = SoupOverview(name: name, indexSpecs: try snapshot.indexSpecs(of: name))
    soup.entries = try snapshot.count(.smart("SELECT id FROM {\(name)}"), soup: nil)
    let started = Dictionary(reader.syncs.map { ($0.id, $0.startTime) }) { first, _ in first }
    let conflicts = Dictionary(try snapshot.conflicts(in: name).map { ($0.entryId, $0) }) { first, _ in first }
    try reader.forEachState(in: name) { entry in
      soup.actions[entry.action, default: 0] += 1
      soup.states[entry.state, default: 0] += 1
      switch entry.state {
      case .waiting:
        if let written = entry.writtenAt { soup.oldestWaiting = min(soup.oldestWaiting ?? written, written) }
      case .conflict:
        guard let conflict = conflicts[entry.entryId] else { break }
        if conflict.detectedAt >= started[conflict.syncId] ?? 0 { soup.newConflicts += 1 }
      default: break
      }
    }
    return soup
  }

  private func sync(
    _ state: SyncState, _ snapshot: StoreSnapshot, _ successes: [Int64: Int64], _ verified: [Int64: Int64]
  ) throws -> SyncOverview {
    var overview = try sync(state, snapshot)
    overview.lastVerified = verified[state.id]
    overview.historicSuccess = successes[state.id]
    return overview
  }

  private func sync(_ state: SyncState, _ snapshot: StoreSnapshot) throws -> SyncOverview {
    guard state.status == .running else { return SyncOverview(state: state, owner: nil, isAbandoned: false) }
    let lease = try snapshot.lease(SyncLeases.name(state.id))
    guard let lease, StoreLook.isHeld(lease, now: now()) else {
      return SyncOverview(state: state, owner: nil, isAbandoned: true)
    }
    return SyncOverview(state: state, owner: SyncLeases.process(of: lease.owner), isAbandoned: false)
  }
}

extension StoreOverview {
  /// A store that does not exist yet, and that the first command that writes creates.
  public init(missing name: String, isGlobal: Bool, engine: String, history: HistoryLevel = .all) {
    self.history = history
    store = (name, isGlobal)
    self.engine = engine
    bytes = 0
    walBytes = engine == "sqlite" ? 0 : nil
    soups = []
    syncs = []
  }

  /// Adds the soups that are defined and not registered yet, which are empty.
  public mutating func add(soups definitions: [(name: String, indexSpecs: [IndexSpec])]) {
    for (name, specs) in definitions where !soups.contains(where: { $0.name.hasSameBytes(as: name) }) {
      soups.append(SoupOverview(name: name, indexSpecs: specs))
    }
  }

  /// Adds the syncs that are defined and not saved yet, which never ran.
  /// - Parameter definitions: Those of a configuration file.
  public mutating func add(_ definitions: [SyncDefinition]) {
    let known = syncs.compactMap(\.state.name)
    for definition in definitions where !known.contains(where: { $0.hasSameBytes(as: definition.name) }) {
      syncs.append(SyncOverview(state: definition.state, owner: nil, isAbandoned: false))
    }
  }
}
