import JSON
import SmartStore

/// The order in which the dirty entries of a soup are sent, and how many at once.
struct UploadOrder: Sendable {
  let target: any SyncUpTarget
  let store: Store
  let soup: String
  let plan: DirtyBatch.Plan
  let mergeMode: MergeMode

  /// Entries that may be sent in one batch.
  struct Phase {
    var ids: [Int64] = []
    var hasCreates = false
  }

  /// Returns creates first and deletes last, if the target requires it; otherwise all entries in
  /// the order of their ids.
  func phases(_ ids: [Int64]) async throws -> [Phase] {
    guard target.traits.sendsCreatesFirst else { return [Phase(ids: ids, hasCreates: true)] }
    var creates = Phase(hasCreates: true), updates = Phase(), deletes = Phase(), last = Phase(), order = CreateOrder()
    let soup = soup, plan = plan, size = 500
    for start in stride(from: 0, to: ids.count, by: size) {
      let part = Array(ids[start..<min(ids.count, start + size)])
      let batch = try await store.read { try DirtyBatch($0.entries(part, in: soup), plan: plan) }
      ordered(batch, &order)
      for i in 0..<batch.count {
        switch batch.action(i) {
        case .create, .upsert: creates.ids.append(batch.entryIds[i])
        case .delete, .removeLocally: deletes.ids.append(batch.entryIds[i])
        case .update where target.goesLast(i, of: batch): last.ids.append(batch.entryIds[i])
        case .update, .nothing: updates.ids.append(batch.entryIds[i])
        }
      }
    }
    creates.ids = order.sorted(creates.ids)
    return [creates, updates, deletes, last]
  }

  /// Adds the creates of a batch and their references within the soup.
  private func ordered(_ batch: DirtyBatch, _ order: inout CreateOrder) {
    let own = target.references.filter { $0.soup == soup }.map(\.path)
    guard !own.isEmpty else { return }
    for i in 0..<batch.count where batch.action(i) == .create {
      let entry = batch.entry(i)
      order.add(
        batch.entryIds[i], localId: batch.recordId(i),
        names: own.compactMap { Projection.value(entry, $0)?.stringValue })
    }
  }

  /// Returns the entries of each phase in batches.
  /// - Parameter verdicts: Entries that are not sent, by id.
  func chunks(_ phases: [Phase], _ verdicts: [Int64: UploadVerdict]) -> [UploadChunk] {
    phases.flatMap { UploadChunk.chunks(of: $0.ids, verdicts, size: batchSize($0)) }
  }

  private func batchSize(_ phase: Phase) -> Int {
    if target.keepsOrder(in: soup) { return 1 }
    let isCompared = target.traits.comparesFields && mergeMode != .overwrite
    return phase.hasCreates || isCompared
      ? target.settings.maxBatchSize : target.traits.largestBatch ?? target.settings.maxBatchSize
  }
}

/// Why an entry is not sent.
enum UploadVerdict: Sendable, Equatable {
  case conflicting
  case inDoubt
  /// Another run is sending it.
  case held
  case refused(UploadResult)
  /// The server already has all of its changes.
  case settled
}

/// Entries whose uploads are sent and written back together, and those in between that are not
/// sent.
struct UploadChunk: Sendable {
  private(set) var toSend: [Int64] = []
  private(set) var held: [(id: Int64, verdict: UploadVerdict)] = []

  var count: Int { toSend.count + held.count }

  init(held: [(id: Int64, verdict: UploadVerdict)] = []) { self.held = held }

  mutating func add(_ id: Int64, _ verdict: UploadVerdict?) {
    if let verdict { held.append((id, verdict)) } else { toSend.append(id) }
  }

  static func chunks(of ids: [Int64], _ verdicts: [Int64: UploadVerdict], size: Int) -> [UploadChunk] {
    var chunks: [UploadChunk] = [], current = UploadChunk()
    for id in ids {
      current.add(id, verdicts[id])
      if current.toSend.count == size {
        chunks.append(current)
        current = UploadChunk()
      }
    }
    return current.count > 0 ? chunks + [current] : chunks
  }
}
