import SmartStore

/// How the creates of both sides are looked up on the server.
struct ParentChildrenLookups: Sendable {
  let parents: SentCreate.Lookup
  let children: SentCreate.Lookup
  private let info: ParentChildrenInfo

  init(_ target: any ParentChildrenUploadTarget, _ configuration: SyncConfiguration) {
    info = target.info
    let waitMs = target.parents.lostCreateWaitMs ?? configuration.lostCreateWaitMs
    parents = SentCreate.Lookup(
      fields: info.parent.fields, waitMs: waitMs,
      references: SoupReference(soup: info.children.soup, field: info.parentIdField))
    children = SentCreate.Lookup(fields: info.children.fields, waitMs: waitMs, parentField: info.parentIdField)
  }

  /// Returns the creates of an upload whose answers were lost, by soup.
  func lostAnswers(of upload: ParentChildrenUpload) -> [LostAnswers] {
    let lost = upload.creates.filter { upload.unsettled.contains($0.member) }
    func ids(_ isParent: Bool) -> [Int64] { lost.filter { ($0.member == .parent) == isParent }.map(\.sent.entryId) }
    return [
      LostAnswers(soup: info.parent.soup, entryIds: ids(true), waitMs: parents.waitMs),
      LostAnswers(soup: info.children.soup, entryIds: ids(false), waitMs: children.waitMs),
    ]
  }
}

extension ParentChildrenGroup {
  /// Claims all members that will be sent or removed, in both soups.
  /// - Returns: False if another run holds one of the rows; nothing is claimed then.
  func claimRows(with claim: UploadClaim, _ lookups: ParentChildrenLookups, _ transaction: StoreTransaction) throws -> Bool {
    let uploads = uploads(claim, lookups)
    var taken: [(soup: String, ids: [Int64])] = [], isAll = true
    for (soup, uploads) in [(info.parent.soup, uploads.parents), (info.children.soup, uploads.children)] {
      let outcomes = try claim.claimRows(uploads, in: soup, transaction)
      isAll = isAll && outcomes.allSatisfy { $0 == .claimed }
      taken.append((soup, zip(uploads, outcomes).filter { $0.1 == .claimed }.map(\.0.entryId)))
    }
    guard !isAll else { return true }
    for (soup, ids) in taken {
      try OwnAttempts(claim, in: soup, transaction).end(ids, succeeded: [], unanswered: [], doubtful: [], transaction)
    }
    return false
  }

  private func uploads(
    _ claim: UploadClaim, _ lookups: ParentChildrenLookups
  ) -> (parents: [UploadRecord], children: [UploadRecord]) {
    var parents: [UploadRecord] = [], children: [UploadRecord] = []
    let plan = plan
    let parts = plan.parts + plan.removals.map { ParentChildrenPlan.Part(member: $0, action: .removeLocally) }
    for part in parts {
      guard let upload = claim.upload(sent(part), isLookedUp: true, text(part, lookups)) else { continue }
      if part.member == .parent { parents.append(upload) } else { children.append(upload) }
    }
    return (parents, children)
  }

  /// Returns the text of an attempt. A new parent's id is not known yet.
  private func text(_ part: ParentChildrenPlan.Part, _ lookups: ParentChildrenLookups) -> [UInt8] {
    let (batch, i) = batch(part.member), isParent = part.member == .parent
    guard part.action == .create else { return batch.sentText(i, part.action) }
    let parent = isParent ? nil : parentId
    return SentCreate.text(
      isParent ? lookups.parents : lookups.children, type: type(part.member), id: batch.recordId(i),
      body: batch.body(i, .create, adding: parent.map { [info.parentIdField: .string($0)] } ?? [:]))
  }
}
