import JSON

/// A member of a family that was changed or deleted on the server.
struct ParentChildrenChange: Sendable, Equatable {
  let member: ParentChildrenMember
  let isDeleted: Bool
}

/// The result of comparing a family with the server's version.
struct ParentChildrenFindings: Sendable {
  /// Members that were changed or deleted on the server by someone else.
  var changes: [ParentChildrenChange] = []
  /// See ``UploadContext/datesSeen``.
  var dates: IdMap<Int64> = [:]
}

/// Decides which members of a family the server has changed. No store, network or clock: every
/// combination of changes is a row of a test.
struct ParentChildrenComparison {
  let family: ParentChildrenGroup
  /// The bases of the members; a clean member is its own base.
  let bases: [ParentChildrenMember: JSONObject]
  let remote: ParentChildrenVersions
  /// Not `OVERWRITE`, which compares nothing.
  let mergeMode: MergeMode
  /// What our own uploads sent.
  var own: [ParentChildrenMember: OwnValues] = [:]
  /// The time stamps that they got, in ms.
  var ownStamps: [ParentChildrenMember: Int64] = [:]

  var findings: ParentChildrenFindings {
    var findings = ParentChildrenFindings()
    let parent = family.parentFlags
    if let parent { compare(.parent, parent, remote.parent, &findings) }
    let goesAlong = family.info.relationship == .masterDetail && parent?.isDeleted ?? false
    for i in 0..<family.children.count {
      var flags = family.children.flags(i)
      if goesAlong { flags.isDeleted = true }
      // Only a dirty record can be new; the flags of clean ones are ignored.
      if !flags.isLocal { flags.isCreated = false }
      compare(.child(i), flags, remote.child(family.children.serverId(i)), &findings)
    }
    return findings
  }

  private func compare(
    _ member: ParentChildrenMember, _ flags: LocalFlags, _ version: ServerVersion, _ findings: inout ParentChildrenFindings
  ) {
    let (batch, i) = family.batch(member), fields = batch.plan.fields
    let date = version.record.flatMap(fields.stamp)
    if let id = batch.serverId(i), let date { findings.dates[id] = date }
    let mayUpload = UploadComparison.mayUpload(
      batch.entry(i), flags, base: remote.hasFields ? bases[member] : nil, server: version, fields, mergeMode,
      ownStamp: ownStamps[member], own: own[member])
    if !mayUpload { findings.changes.append(ParentChildrenChange(member: member, isDeleted: version == .deleted)) }
  }
}
