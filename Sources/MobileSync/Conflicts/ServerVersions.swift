import JSON
import RestClient
import SmartStore

/// Asks what the server has of records that it changed: the fields that the entries were based on, and those that are sent.
struct ServerVersions {
  let batch: DirtyBatch
  let soup: String
  let store: Store
  let service: any SyncService
  /// The type of a record, by its position in the batch.
  let type: (Int) -> String
  let refused: RefusedFields
  /// Reads fields of records of one type: one version for each position, in order.
  package let fetch: (_ type: String, _ indices: [Int], _ fields: [String]) async throws -> [ServerVersion]

  /// - Parameter indices: Positions in the batch.
  /// - Returns: By position; what is missing is not known.
  /// - Throws: `RestError` when the server does not answer. A refusal counts as not knowing.
  package func find(_ indices: [Int]) async throws -> [Int: ServerVersion] {
    let asked = indices.filter { batch.serverId($0) != nil }
    var found: [Int: ServerVersion] = [:]
    for type in Set(asked.map(type)).sorted() {
      let indices = asked.filter { self.type($0) == type }
      for (i, version) in zip(indices, try await versions(type, indices)) { found[i] = version }
    }
    return found
  }

  private func versions(_ type: String, _ indices: [Int]) async throws -> [ServerVersion] {
    let date = batch.plan.fields.modificationDate
    let sent = (batch.plan.update ?? []).filter { !$0.contains(".") } + [date]
    let more = try await baseFields(indices).filter { !sent.contains($0) }
    do {
      for _ in 0..<ServerVersions.tries {
        let known = refused.known(more, of: type)
        do {
          return try await fetch(type, indices, sent + known)
        } catch let error as RestError where service.fault(of: error) == .unknownField && !known.isEmpty {
          // A script kept a field of its own in clean entries.
          refused.note(error, known.map { ($0, type) })
        }
      }
      return try await fetch(type, indices, sent)
    } catch let error as RestError where ServerVersions.isRefusal(error) {
      return indices.map { _ in .unknown }
    }
  }

  /// An answer may name one field where several are not known.
  private static let tries = 3

  private static func isRefusal(_ error: RestError) -> Bool {
    error.code == .httpStatus && [400, 403, 404].contains(error.status ?? 0)
  }

  /// Fields that the bases have a plain value of. What lies inside another object belongs to another record.
  private func baseFields(_ indices: [Int]) async throws -> [String] {
    let ids = indices.map { batch.entryIds[$0] }, soup = soup, fields = batch.plan.fields
    return try await store.read { snapshot in
      var names: [String] = [], seen: Set<String> = []
      for id in ids {
        guard let base = try snapshot.base(of: id, in: soup).flatMap({ try JSONValue(parsing: $0).objectValue }) else { continue }
        for (key, value) in base where value.isPlain && !RecordMerge.isBookkeeping(key, fields) {
          if seen.insert(key).inserted { names.append(key) }
        }
      }
      return names
    }
  }
}
