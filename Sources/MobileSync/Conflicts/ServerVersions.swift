import JSON
import RestClient
import SmartStore

/// Reads the server's versions of records that it changed: the fields of the entries' bases and the
/// fields that are sent.
struct ServerVersions {
  let batch: DirtyBatch
  let soup: String
  let store: Store
  let service: any SyncService
  /// Returns the type of a record by its position in the batch.
  let type: (Int) -> String
  let refused: RefusedFields
  /// Reads fields of records of one type; returns one version for each position, in order.
  package let fetch: (_ type: String, _ indices: [Int], _ fields: [String]) async throws -> [ServerVersion]

  /// Reads the versions of some records.
  /// - Parameter indices: Positions in the batch.
  /// - Returns: The versions by position; unknown ones are missing.
  /// - Throws: `RestError` if the server does not answer. A refusal makes the version unknown.
  package func find(_ indices: [Int]) async throws -> [Int: ServerVersion] {
    let asked = indices.filter { batch.serverId($0) != nil }
    var found: [Int: ServerVersion] = [:]
    for type in IdSet(asked.map(type)).sorted() {
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
        let known = refused.known(more, of: type), listed = refused.known(sent, of: type)
        do {
          return try await fetch(type, indices, listed + known)
        } catch let error as RestError where service.fault(of: error) == .unknownField {
          // A script kept a field of its own in clean entries, or a list has a misspelt name.
          let listed = listed.filter { $0 != date }
          guard refused.note(error, known.map { ($0, type) }, listed: listed.map { ($0, type) }) else { throw error }
        }
      }
      return try await fetch(type, indices, refused.known(sent, of: type))
    } catch let error as RestError where ServerVersions.isRefusal(error) {
      return indices.map { _ in .unknown }
    }
  }

  /// An answer may name only one of several unknown fields.
  private static let tries = 3

  private static func isRefusal(_ error: RestError) -> Bool {
    error.code == .httpStatus && [400, 403, 404].contains(error.status ?? 0)
  }

  /// Tells whether a null member stands for another record.
  /// - Parameter parents: Members that the syncs of the soup name as such, in lower case.
  private static func isParent(_ key: String, in bases: [JSONObject], _ parents: IdSet) -> Bool {
    key.hasSuffix("__r") || bases.contains { $0[key + "Id"] != nil || $0[key]?.objectValue != nil }
      || parents.contains(key.lowercased())
  }

  /// Returns the members that stand for other records in the syncs down that fill the soup.
  private static func parents(
    of soup: String, _ service: any SyncService, in snapshot: StoreSnapshot
  ) throws -> IdSet {
    let downs = try SyncsSoup.all(in: snapshot).filter { state in
      let soups = [state.soupName] + [state.target["children"]?["soupName"]?.stringValue].compactMap { $0 }
      return state.type == .syncDown && soups.contains { $0.hasSameBytes(as: soup) }
    }
    return IdSet(downs.flatMap { service.parentMembers(of: $0.target) }.map { $0.lowercased() })
  }

  /// Returns the fields that have a plain value in one of the bases. Nested objects belong to other
  /// records, and so does null in their place: a query that names `Account.Name` answers
  /// `Account: null`. Other null fields are asked for, because another user may have set them.
  private func baseFields(_ indices: [Int]) async throws -> [String] {
    let ids = indices.map { batch.entryIds[$0] }, soup = soup, fields = batch.plan.fields, service = service
    return try await store.read { snapshot in
      var names: [String] = [], seen: IdSet = []
      let found = try snapshot.baseObjects(of: ids, in: soup), bases = ids.compactMap { found[$0] }
      let parents = try ServerVersions.parents(of: soup, service, in: snapshot)
      for base in bases {
        for (key, value) in base where value.isPlain && !RecordMerge.isBookkeeping(key, fields) {
          if !value.isNull || !ServerVersions.isParent(key, in: bases, parents), seen.insert(key).inserted { names.append(key) }
        }
      }
      return names
    }
  }
}
