import JSON
import SmartStore

/// A run that is only planned: the same steps up to the doors of requests and of writes.
extension SyncUpRun {
  /// Notes what the run would do, for the sync's soup and the soups that are sent with it.
  mutating func plan(_ recorder: PlanRecorder) async throws {
    try await planSoup(recorder)
    for companion in target.companions {
      var run = SyncUpRun(companion, of: self)
      try await run.planSoup(recorder)
    }
  }

  private mutating func planSoup(_ recorder: PlanRecorder) async throws {
    try await prepareTarget()
    if target.fields.id == environment.service.defaultFields.id {
      try await record.writeServerIds(in: soup, at: target.fields.id, own: target.fields)
    }
    let settled = try await lostCreates.plan(record, recorder)
    let order = order, phases = try await phases(order)
    let verdicts = Dictionary(uniqueKeysWithValues: settled.map { ($0, UploadVerdict.inDoubt) })
    try await upload(order.chunks(phases, verdicts))
  }

  /// Notes what is sent of a batch, and why the rest is not.
  func plan(_ batch: DirtyBatch, of chunk: UploadChunk, _ recorder: PlanRecorder) async throws {
    let held = try await heldEntries(batch), soup = soup, plan = plan
    var batch = batch
    if !held.isEmpty {
      let ids = batch.entryIds.filter { !held.contains($0) }
      batch = try await environment.store.read { try DirtyBatch($0.entries(ids, in: soup), plan: plan) }
      batch = try batch.merged(recorder, in: soup)
    }
    let before = recorder.begin(.send, records: batch.count)
    defer { recorder.resume(before) }
    let keys = try await createKeys(batch), updates = try await updateFacts(batch)
    var upload = BatchUpload(batch: batch, target: target, in: context(keys: keys), updates)
    if let failure = await upload.send() { throw failure }
    let items = PlannedItems(run: self, upload: upload)
    for item in try await items.all(chunk.held + held.map { ($0, .held) }) { recorder.add(item) }
    try await planReads(upload, recorder)
  }

  /// Notes the requests that read records after they were updated.
  private func planReads(_ upload: BatchUpload, _ recorder: PlanRecorder) async throws {
    let looked = Set(unconditionalUpdates(upload)), batch = upload.batch
    let indices = batch.entryIds.indices.filter { looked.contains(batch.entryIds[$0]) }
    for type in IdSet(indices.map(batch.type)).sorted() {
      let same = indices.filter { batch.type($0) == type }
      let before = recorder.begin(.read, records: same.count)
      defer { recorder.resume(before) }
      do { _ = try await look(same, type, batch) } catch  where error.isPlanned {}
    }
  }

  /// Returns the entries of a batch that another run is sending.
  private func heldEntries(_ batch: DirtyBatch) async throws -> [Int64] {
    let ids = batch.entryIds, soup = soup, owners = environment.owners, now = environment.configuration.now()
    return try await environment.store.read { snapshot in
      try snapshot.unsettledUploads(of: ids, in: soup).filter { try owners.isLive($0, now: now, in: snapshot) }.map(\.entryId)
    }
  }
}
