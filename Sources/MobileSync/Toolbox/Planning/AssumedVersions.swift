import JSON
import SmartStore

/// Stands for the server while a plan asks nothing: its version of a known conflict, else the base, else the entry.
struct AssumedVersions {
  let store: Store
  let soup: String
  let batch: DirtyBatch

  private var fields: TargetFields { batch.plan.fields }

  /// What the store knows of the records on the server.
  struct Known: Sendable {
    var bases: [Int64: JSONObject] = [:]
    var conflicts: [Int64: ConflictRecord] = [:]

    /// Returns whether anything but the entry says what the server has.
    func isFounded(_ entryId: Int64) -> Bool { bases[entryId] != nil || conflicts[entryId] != nil }
  }

  func known(_ indices: [Int]) async throws -> Known {
    let ids = indices.map { batch.entryIds[$0] }, soup = soup
    return try await store.read { snapshot in
      Known(
        bases: try snapshot.baseObjects(of: ids, in: soup),
        conflicts: Dictionary(try snapshot.conflicts(of: ids, in: soup).map { ($0.entryId, $0) }) { first, _ in first })
    }
  }

  /// Returns the versions of some records.
  /// - Parameter names: The fields that would be read.
  func versions(_ indices: [Int], _ names: [String]) async throws -> [ServerVersion] {
    let known = try await known(indices)
    return indices.map { version($0, names, known) }
  }

  func version(_ i: Int, _ names: [String], _ known: Known) -> ServerVersion {
    let id = batch.entryIds[i], entry = batch.entry(i)
    if let conflict = known.conflicts[id], let server = try? ServerVersion(conflict.server) {
      guard let record = server.record else { return server }
      return .record(cut(record, names, entry))
    }
    return .record(cut(known.bases[id] ?? entry, names, entry))
  }

  /// Returns a record with the fields that would be read.
  private func cut(_ record: JSONObject, _ names: [String], _ entry: JSONObject) -> JSONObject {
    var found = JSONObject()
    for name in names { found[name] = record[name] ?? .null }
    for path in [fields.id, fields.modificationDate] {
      guard let value = Projection.value(record, path) ?? Projection.value(entry, path) else { continue }
      let (key, member) = Projection.member(value, at: path, in: found)
      found[key] = member
    }
    return found
  }
}

/// The same for a family.
struct AssumedFamily {
  let family: ParentChildrenGroup
  let store: Store
  /// The bases of the members; a clean member is its own base.
  let bases: [ParentChildrenMember: JSONObject]

  func versions(_ fields: (parent: [String], children: [String])) async throws -> ParentChildrenVersions {
    let info = family.info
    let parents = AssumedVersions(store: store, soup: info.parent.soup, batch: family.parent)
    let children = AssumedVersions(store: store, soup: info.children.soup, batch: family.children)
    let parent = try await family.hasParent ? parents.versions([0], fields.parent).first : nil
    // The server lists the children that belong to the parent there; the others are looked up.
    let listed = (0..<family.children.count).filter { i in
      family.children.serverId(i) != nil && bases[.child(i)]?[info.parentIdField]?.stringValue == family.parentId
    }
    var found: IdMap<ServerVersion> = [:]
    for (i, version) in zip(listed, try await children.versions(listed, fields.children)) {
      if let id = family.children.serverId(i), version != .deleted { found[id] = version }
    }
    return ParentChildrenVersions(parent: parent ?? .unknown, children: found)
  }
}
