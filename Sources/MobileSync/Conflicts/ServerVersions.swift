import JSON
import RestClient
import SmartStore

/// Asks what the server has of records that it changed: the fields that the entries were based on, and those that are sent.
package struct ServerVersions {
  package let batch: DirtyBatch
  package let soup: String
  package let store: Store
  package let service: any SyncService
  /// The type of a record, by its position in the batch.
  package let type: (Int) -> String
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
    let wanted = sent + (try await baseFields(indices)).filter { !sent.contains($0) }
    do {
      return try await fetch(type, indices, wanted)
    } catch let error as RestError where service.fault(of: error) == .unknownField && wanted.count > sent.count {
      // Somebody kept a field of their own in clean entries.
      return try await refusable { try await fetch(type, indices, sent) } ?? indices.map { _ in .unknown }
    } catch let error as RestError where ServerVersions.isRefusal(error) {
      return indices.map { _ in .unknown }
    }
  }

  private func refusable(_ body: () async throws -> [ServerVersion]) async throws -> [ServerVersion]? {
    do { return try await body() } catch let error as RestError where ServerVersions.isRefusal(error) { return nil }
  }

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
