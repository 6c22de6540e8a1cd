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

  func apply(in transaction: StoreTransaction) throws {
    // The parent comes last, because its children are found by its old id.
    let ordered = upload.answers.sorted { $0.member != .parent && $1.member == .parent }
    for answer in ordered {
      let side = upload.family.side(answer.member)
      try transaction.writeBack(
        answer.answer, in: side.soup, fields: side.fields, madeBy: claim.syncId, now: claim.now
      ) {
        upload.family.batch(answer.member).batch.sentFields(answer.sent)
      }
    }
    if let parentId = upload.family.parentId { try writeFamily(parentId, in: transaction) }
    try settle(in: transaction)
  }

  /// Updates the children after their parent was created, deleted or lost.
  private func writeFamily(_ parentId: String, in transaction: StoreTransaction) throws {
    if let id = upload.newParentId {
      try transaction.redirect(SoupReference(soup: info.children.soup, field: info.parentIdField), from: parentId, to: id)
    }
    let parent = upload.family.parent.entryIds[0]
    if upload.plan.deletesChildren, try transaction.entry(parent, in: info.parent.soup) == nil {
      try transaction.remove(children(of: parentId, in: transaction), from: info.children.soup)
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

  private func settle(in transaction: StoreTransaction) throws {
    for member in upload.family.members where !upload.unsettled.contains(member) {
      let (batch, i) = upload.family.batch(member)
      try claim.settle([batch.entryIds[i]], in: upload.family.side(member).soup, transaction)
    }
    for answer in upload.answers where answer.outcome == .succeeded {
      try transaction.expectEchoes([answer.sent.entryId], in: upload.family.side(answer.member).soup)
    }
  }
}
