import SmartStore

/// How the creates of both sides are found again.
struct FamilyPlaces: Sendable {
  let parents: SentCreate.Place
  let children: SentCreate.Place
  private let info: ParentChildrenInfo

  init(_ target: any FamilyUpTarget, _ configuration: SyncConfiguration) {
    info = target.info
    let waitMs = target.parents.lostCreateWaitMs ?? configuration.lostCreateWaitMs
    parents = SentCreate.Place(
      fields: info.parent.fields, waitMs: waitMs,
      references: SoupReference(soup: info.children.soup, field: info.parentIdField))
    children = SentCreate.Place(fields: info.children.fields, waitMs: waitMs, parentField: info.parentIdField)
  }

  /// The creates of an upload whose answers were lost, by soup.
  func lostAnswers(of upload: FamilyUpload) -> [LostAnswers] {
    let lost = upload.creates.filter { upload.unsettled.contains($0.member) }
    func ids(_ isParent: Bool) -> [Int64] { lost.filter { ($0.member == .parent) == isParent }.map(\.sent.entryId) }
    return [
      LostAnswers(soup: info.parent.soup, entryIds: ids(true), waitMs: parents.waitMs),
      LostAnswers(soup: info.children.soup, entryIds: ids(false), waitMs: children.waitMs),
    ]
  }
}

extension Family {
  /// Takes everything that is to be sent, or removed, in both soups.
  /// - Returns: False when a row is another run's; none is taken then.
  func take(with claim: UploadClaim, _ places: FamilyPlaces, _ transaction: StoreTransaction) throws -> Bool {
    let uploads = uploads(claim, places)
    var taken: [(soup: String, ids: [Int64])] = [], isAll = true
    for (soup, uploads) in [(info.parent.soup, uploads.parents), (info.children.soup, uploads.children)] {
      let outcomes = try claim.take(uploads, in: soup, transaction)
      isAll = isAll && outcomes.allSatisfy { $0 == .claimed }
      taken.append((soup, zip(uploads, outcomes).filter { $0.1 == .claimed }.map(\.0.entryId)))
    }
    if !isAll { for (soup, ids) in taken { try claim.settle(ids, in: soup, transaction) } }
    return isAll
  }

  private func uploads(
    _ claim: UploadClaim, _ places: FamilyPlaces
  ) -> (parents: [UploadRecord], children: [UploadRecord]) {
    var parents: [UploadRecord] = [], children: [UploadRecord] = []
    let plan = plan
    let parts = plan.parts + plan.removals.map { FamilyPlan.Part(member: $0, action: .removeLocally) }
    for part in parts {
      guard let upload = claim.upload(sent(part), text(part, places)) else { continue }
      if part.member == .parent { parents.append(upload) } else { children.append(upload) }
    }
    return (parents, children)
  }

  /// What a create will tell the server; of a new parent's id only that it is still to come.
  private func text(_ part: FamilyPlan.Part, _ places: FamilyPlaces) -> [UInt8] {
    let (batch, i) = batch(part.member), isParent = part.member == .parent
    let parent = isParent ? nil : parentId
    return SentCreate.text(
      isParent ? places.parents : places.children, type: type(part.member), id: batch.recordId(i),
      body: batch.body(i, .create, adding: parent.map { [info.parentIdField: .string($0)] } ?? [:]))
  }
}
