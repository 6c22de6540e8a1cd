import JSON
import SmartStore

/// Makes the item of a family of a plan: its parent, or a child without one, with the other dirty members.
struct PlannedFamily {
  struct Facts: Sendable {
    let parents: PlannedItems.Facts
    let children: PlannedItems.Facts
  }

  let family: ParentChildrenGroup
  let state: SyncState
  let facts: Facts

  private func facts(_ member: ParentChildrenMember) -> PlannedItems.Facts {
    member == .parent ? facts.parents : facts.children
  }

  /// Returns the item of a family that is not sent.
  func held(_ verdict: UploadVerdict) throws -> PlannedItem? {
    var dirty = items()
    guard let i = dirty.firstIndex(where: { isConcerned($0.0, by: verdict) }) ?? dirty.indices.first else { return nil }
    for n in dirty.indices {
      try PlannedVerdict(sync: state, facts: facts(dirty[n].0)).note(verdict, in: &dirty[n].1)
    }
    return one(dirty.map(\.1), expect: dirty[i].1.expect, why: dirty[i].1.why)
  }

  private func isConcerned(_ member: ParentChildrenMember, by verdict: UploadVerdict) -> Bool {
    let (batch, i) = family.batch(member), id = batch.entryIds[i]
    return verdict == .conflicting ? facts(member).conflicts[id] != nil : facts(member).uploads[id] != nil
  }

  /// Returns the item of a family that is sent, at least in part.
  func sent(_ upload: ParentChildrenUpload, _ recorder: PlanRecorder) -> PlannedItem? {
    var members = items(with: Set(upload.requestNumbers.keys))
    for n in members.indices {
      let member = members[n].0
      if let answer = upload.answers.first(where: { $0.member == member })?.answer {
        PlannedVerdict.note(answer, in: &members[n].1)
      } else if let request = upload.requestNumbers[member] {
        send(&members[n].1, member, request, recorder)
      } else if !upload.family.isDirty(member) {
        members[n].1.expect = .skip
        members[n].1.why = [PlannedItem.Reason(.nothingToSend, "the server already has its changes")]
      } else {
        members[n].1.expect = .blocked
        members[n].1.why = [PlannedItem.Reason(.localReference, "its parent is not sent")]
      }
    }
    let order: [PlannedItem.Expectation] = [.merge, .send, .blocked, .conflict, .wait, .skip]
    let expect = order.first { expect in members.contains { $0.1.expect == expect } } ?? .skip
    return one(members.map(\.1), expect: expect, why: members.flatMap(\.1.why))
  }

  private func send(_ item: inout PlannedItem, _ member: ParentChildrenMember, _ request: Int, _ recorder: PlanRecorder) {
    let (batch, i) = family.batch(member)
    item.request = request
    item.expect = recorder.merged(item.entryId, in: item.soup) == nil ? .send : .merge
    let list = (item.action == .update ? batch.plan.update : batch.plan.create) ?? []
    let names = IdSet(list.map { String($0.prefix { $0 != "." }) } + (member == .parent ? [] : [family.info.parentIdField]))
    item.fields = item.fields.map { $0.marked(isSent: item.action != .delete && names.contains($0.name)) }
    if let note = ErrorNote(batch.entry(i)), note.code != ErrorNote.nothingToSend {
      item.why.append(PlannedItem.Reason(.lastError, "refused last time: \(note.text)"))
    }
  }

  /// Returns the dirty members, and those that are sent with them.
  private func items(with others: Set<ParentChildrenMember> = []) -> [(ParentChildrenMember, PlannedItem)] {
    family.members.filter { family.isDirty($0) || others.contains($0) }.compactMap { member in
      let (batch, i) = family.batch(member), id = batch.entryIds[i], side = family.side(member)
      guard let row = facts(member).rows[id] else { return nil }
      var item = PlannedItem.make(
        row, batch.entry(i), in: side.soup, side.fields, externalId: batch.plan.externalIdField,
        base: facts(member).bases[id], server: nil)
      // A clean child is updated if its parent gets an id.
      if !family.isDirty(member) { item = item.acting(.update) }
      return (member, item)
    }
  }

  private func one(_ items: [PlannedItem], expect: PlannedItem.Expectation, why: [PlannedItem.Reason]) -> PlannedItem? {
    guard var first = items.first else { return nil }
    first.family = Array(items.dropFirst())
    first.expect = expect
    first.why = why
    return first
  }
}

extension PlannedItem {
  func acting(_ action: UploadAction) -> PlannedItem {
    var item = PlannedItem(soup, entryId, version: version, action, expect)
    (item.recordId, item.title, item.why, item.request, item.fields) = (recordId, title, why, request, fields)
    return item
  }
}
