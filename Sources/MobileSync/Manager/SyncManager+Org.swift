import SmartStore

/// Restrictions of syncs with the org, as opposed to named connections: a local limit on requests,
/// and one org for each sync.
extension SyncManager {
  // MARK: The limit

  /// - Throws: `RestError` if no sync of the org may start now.
  func checkRestraint(_ state: SyncState) throws {
    guard state.connection == nil, let refusal = configuration.restraint(true) else { return }
    throw refusal
  }

  /// Stops a run at a check point if the limit is reached.
  func restrain(_ state: SyncState, _ control: RunControl) {
    guard state.connection == nil else { return }
    control.restrain { [restraint = configuration.restraint] in restraint(false)?.message }
  }

  // MARK: The org

  /// Checks that a run is in the org of the previous runs, or stores the org of a first run. Sends
  /// nothing but a sign-in.
  /// - Throws: ``SyncError`` `.otherOrg`.
  func settleOrg(_ record: RunRecord) async throws {
    guard let found = try await newOrg(of: record.state, record.environment.control) else { return }
    try await record.save(.pulled) { _, state in state.orgId = found }
  }

  /// Does the same for a search for ghosts: in another org every entry would be one.
  func settleOrg(of state: SyncState, _ control: RunControl) async throws {
    guard let found = try await newOrg(of: state, control) else { return }
    try await store.write(.pulled) { transaction in
      guard var stored = try SyncsSoup.find(.id(state.id), in: transaction), stored.orgId == nil else { return }
      stored.orgId = found
      try SyncsSoup.save(stored, in: transaction)
    }
  }

  /// Returns the org of a sync that has none yet; nil if there is nothing to store.
  func newOrg(of state: SyncState, _ control: RunControl) async throws -> String? {
    guard state.connection == nil, let findOrg = configuration.findOrg else { return nil }
    let found = try await control.value(of: Task { try await findOrg() })
    guard let known = state.orgId else { return found }
    guard known == found else {
      let name = state.name.map { "'\($0)'" } ?? "\(state.id)"
      throw SyncError(
        .otherOrg,
        "sync \(name) of store '\(store.name)' holds records of org \(known), and this session is in org \(found): their "
          + "records would mix; sync into a store of the user, or use another global store for each org")
    }
    return nil
  }
}
