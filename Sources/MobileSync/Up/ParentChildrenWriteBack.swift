import JSON
import SmartStore

/// Writes the answers for one family into both soups.
struct ParentChildrenWriteBack: Sendable {
  private let upload: ParentChildrenUpload
  private let claim: UploadClaim

  init(_ upload: ParentChildrenUpload, _ claim: UploadClaim) {
    self.upload = upload
    self.claim = claim
  }

  private var info: ParentChildrenInfo { upload.family.info }

  /// - Returns: False if nothing was written, because a soup is another one by now.
  @discardableResult
  func apply(in transaction: StoreTransaction) throws -> Bool {
    guard try upload.family.soups.areSame(in: transaction) else { return false }
    let parents = try OwnAttempts(claim, in: info.parent.soup, transaction)
    let children = try OwnAttempts(claim, in: info.children.soup, transaction)
    // The parent comes last, because its children are found by its old id.
    let ordered = upload.answers.sorted { $0.member != .parent && $1.member == .parent }
    for given in ordered {
      let side = upload.family.side(given.member)
      guard let answer = (given.member == .parent ? parents : children).answer(given.answer) else { continue }
      try transaction.writeBack(
        answer, in: side.soup, fields: side.fields, madeBy: claim.syncId, now: claim.now, story: { story(of: given, answer.sent) }
      ) {
        upload.family.batch(given.member).batch.sentFields(answer.sent)
      }
    }
    for member in upload.waiting {
      let (batch, i) = upload.family.batch(member)
      try transaction.noteSkipped(
        [batch.entryIds[i]], because: SkipReason.parentNotSent, in: upload.family.side(member).soup)
    }
    if let parentId = upload.family.parentId { try writeFamily(parentId, in: transaction) }
    for (isParent, attempts) in [(true, parents), (false, children)] {
      try end(attempts, isParent ? info.parent.soup : info.children.soup, isParent: isParent, in: transaction)
    }
    return true
  }

  private func story(of given: ParentChildrenUpload.Answer, _ sent: SentRecord) -> SentStory? {
    if let known = upload.changes.stories[given.member] { return known }
    let (batch, i) = upload.family.batch(given.member)
    return SentStory(sent.action, of: i, in: batch)
  }

  /// Updates the children after their parent was created, deleted or lost.
  private func writeFamily(_ parentId: String, in transaction: StoreTransaction) throws {
    if let id = upload.newParentId {
      try transaction.redirect(SoupReference(soup: info.children.soup, field: info.parentIdField), from: parentId, to: id)
    }
    guard let parent = upload.family.parent.entryIds.first else { return }
    if upload.plan.deletesChildren, try transaction.entry(parent, in: info.parent.soup) == nil {
      let gone = try transaction.storedEntries(children(of: parentId, in: transaction), in: info.children.soup).map {
        RemovedEntry($0, try $0.object(), info.children.fields, because: .deletedThere)
      }
      try transaction.remove(gone, from: info.children.soup)
    }
    let isLost = upload.parentIsGone || upload.answers.contains { $0.member == .parent && $0.outcome == .recreate }
    if upload.needsAnotherTry, isLost { try recreate(parent, parentId, in: transaction) }
  }

  private func children(of parentId: String, in transaction: StoreTransaction) throws -> [Int64] {
    try transaction.entryIds(in: info.children.soup, where: info.parentIdField, equals: .text(parentId))
  }

  /// Marks a lost parent as created. In a master-detail relationship, the server has lost its
  /// children as well.
  private func recreate(_ parent: Int64, _ parentId: String, in transaction: StoreTransaction) throws {
    _ = try transaction.patch(
      parent, in: info.parent.soup, setting: [LocalField.local: true, LocalField.created: true],
      removing: [LocalField.lastError])
    let flag = info.relationship == .masterDetail ? LocalField.created : LocalField.updated
    for child in try children(of: parentId, in: transaction) {
      _ = try transaction.patch(
        child, in: info.children.soup, setting: [LocalField.local: true, flag: true], removing: [LocalField.lastError])
    }
  }

  private func end(
    _ attempts: OwnAttempts, _ soup: String, isParent: Bool, in transaction: StoreTransaction
  ) throws {
    func ids(_ members: some Sequence<ParentChildrenMember>) -> [Int64] {
      members.filter { ($0 == .parent) == isParent }.map { member in
        let (batch, i) = upload.family.batch(member)
        return batch.entryIds[i]
      }
    }
    let succeeded = ids(upload.answers.filter { $0.outcome == .succeeded }.map(\.member))
    try transaction.expectEchoes(succeeded, in: soup)
    try attempts.end(
      ids(upload.family.members), succeeded: Set(succeeded), unanswered: Set(ids(upload.unsettled.union(upload.openUpdates))),
      doubtful: Set(ids(upload.doubtfulUpdates)), transaction)
  }
}
