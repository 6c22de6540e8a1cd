import JSON
import SmartStore

/// Says why an entry of a plan is not sent. No store, network or clock.
struct PlannedVerdict {
  let sync: SyncState
  let facts: PlannedItems.Facts

  /// Notes an answer that is known without the server.
  static func note(_ answer: UploadAnswer, in item: inout PlannedItem) {
    let result = answer.result
    switch (answer.outcome, item.action) {
    case (_, .removeLocally):
      item.expect = .skip
      item.why = [PlannedItem.Reason(.nothingToSend, "created and deleted here, so that it only leaves the soup")]
    case (.skipped, _), (.succeeded, _):
      item.expect = .skip
      let names = ErrorNote([LocalField.lastError: result.error ?? .null])?.fields ?? []
      item.why = [
        names.isEmpty
          ? PlannedItem.Reason(.nothingToSend, "no field that is sent differs")
          : PlannedItem.Reason(.fieldNotListed, "no field list sends \(names.joined(separator: ", "))")
      ]
    case (.inDoubt, _):
      item.expect = .wait
      item.why = [PlannedItem.Reason(.inDoubt, ErrorNote.text(of: result.error))]
    case (.conflicting, _):
      item.expect = .blocked
      item.why = [PlannedItem.Reason(.lastError, ErrorNote.text(of: result.error))]
    default:
      item.expect = .blocked
      item.why = [PlannedItem.Reason(code(of: result), ErrorNote.text(of: result.error))]
    }
  }

  private static func code(of result: UploadResult) -> PlannedItem.Why {
    switch result.error?["statusCode"]?.stringValue ?? result.error?["code"]?.stringValue
      ?? result.error?["errorCode"]?.stringValue
    {
    case "MISSING_ID": .noId
    case "INVALID_TYPE": .noType
    case "NO_FIELDLIST": .fieldNotListed
    case "READ_ONLY": .readOnly
    case "WAITS_FOR_PARENT", SkipReason.parentMissingCode: .localReference
    case _ where result.waitsForReference: .localReference
    default: .lastError
    }
  }

  /// Notes why an entry is held back.
  func note(_ verdict: UploadVerdict, in item: inout PlannedItem) throws {
    switch verdict {
    case .conflicting: try noteConflict(in: &item)
    case .inDoubt: noteDoubt(in: &item)
    case .held:
      item.expect = .wait
      item.why = [PlannedItem.Reason(.held, "another run is sending it")]
    case .refused(let result):
      item.expect = .blocked
      item.why = [PlannedItem.Reason(.noType, ErrorNote.text(of: result.error))]
    case .settled:
      item.expect = .skip
      item.why = [PlannedItem.Reason(.nothingToSend, "the server already has its changes")]
    }
  }

  private func noteConflict(in item: inout PlannedItem) throws {
    item.expect = .conflict
    let conflict = facts.conflicts[item.entryId]
    if let name = sync.options.resolver {
      item.why = [PlannedItem.Reason(.resolver, "the resolver '\(name)' decides when it is sent")]
    } else if conflict?.server == .deleted {
      item.why = [PlannedItem.Reason(.deletedThere, "deleted on the server; decide it first")]
    } else {
      let both = item.fields.filter { $0.side == .both }.map(\.name)
      let what = both.isEmpty ? "it" : both.joined(separator: ", ")
      item.why = [PlannedItem.Reason(.conflict, "both sides changed \(what); decide it first")]
    }
  }

  private func noteDoubt(in item: inout PlannedItem) {
    item.expect = .wait
    guard let upload = facts.uploads[item.entryId], !upload.inDoubt, let until = upload.resendAt else {
      item.why = [
        PlannedItem.Reason(.inDoubt, "its creation was not answered, and a search does not decide whether it took place")
      ]
      return
    }
    item.why = [PlannedItem.Reason(.inDoubt, "waits until \(TimeStamp.text(until)) for a lost answer")]
  }
}
