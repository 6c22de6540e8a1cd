import JSON

/// The change of a row after an answer. No store, network or clock.
enum RowChange: Sendable, Equatable {
  case remove
  case patch(setting: JSONObject, removing: [String])
  case none
}

/// The outcome of one record's upload, for the counts.
enum UploadOutcome: Sendable, Equatable {
  case succeeded, failed
  /// Both sides changed the record, and the merge mode does not send it.
  case conflicting
  /// There was nothing to send.
  case skipped
  /// A create that the target may have made, and that cannot be looked up.
  case inDoubt
  /// To be created again: the server has deleted it, and the merge mode lets the local change win.
  case recreate
}

/// One record in the version that was sent.
struct SentRecord: Sendable {
  let entryId: Int64
  let version: Int64
  let action: UploadAction
}

enum WriteBack {
  /// Returns the change of a row.
  /// - Parameters:
  ///   - current: The current entry; nil if it was removed meanwhile.
  ///   - isUnchanged: Whether the entry is still the version that was sent. Otherwise it was edited
  ///     during the upload and stays dirty.
  static func change(
    for answer: UploadAnswer, current: JSONObject?, isUnchanged: Bool, idField: String
  ) -> RowChange {
    guard let current else { return .none }
    let (sent, outcome, result) = (answer.sent, answer.outcome, answer.result)
    switch outcome {
    case .conflicting: return .none
    case .skipped: return result.hasNothingToSend ? noting(result.errorText, in: current) : .none
    case .inDoubt: return noting(result.errorText, in: current)
    case .failed: return .patch(setting: [LocalField.lastError: .string(result.errorText)], removing: [])
    case .recreate: return .patch(setting: [LocalField.created: true], removing: [])
    case .succeeded: break
    }
    switch sent.action {
    case .removeLocally: return isUnchanged || isDeleted(current) ? .remove : .none
    case .delete: return deleted(current, isUnchanged: isUnchanged)
    case .create, .upsert: return created(current, result, isUnchanged: isUnchanged, idField: idField)
    case .update, .nothing:
      guard isUnchanged else { return .none }
      guard result.unsent.isEmpty else { return noting(result.unsentText, in: current) }
      return .patch(setting: adding(result, to: LocalField.clean), removing: LocalField.ofChanges + result.outdated)
    }
  }

  /// A known error is not written again.
  private static func noting(_ error: String, in current: JSONObject) -> RowChange {
    current[LocalField.lastError] == .string(error)
      ? .none : .patch(setting: [LocalField.lastError: .string(error)], removing: [])
  }

  private static func isDeleted(_ entry: JSONObject) -> Bool { entry.hasFlag(LocalField.deleted) }

  private static func deleted(_ current: JSONObject, isUnchanged: Bool) -> RowChange {
    if isUnchanged || isDeleted(current) { return .remove }
    // The deletion was undone during the upload, so the record must be created again.
    return .patch(
      setting: [LocalField.local: true, LocalField.created: true, LocalField.deleted: false],
      removing: LocalField.ofChanges)
  }

  private static func created(
    _ current: JSONObject, _ result: UploadResult, isUnchanged: Bool, idField: String
  ) -> RowChange {
    var members: JSONObject = [:]
    // An id inside an object comes with the record, if the answer has one.
    if let id = result.id, !idField.contains(".") || result.record == nil {
      let (key, value) = Projection.member(.string(id), at: idField, in: current)
      members[key] = value
    }
    if isUnchanged, !result.isPartial {
      for (key, value) in adding(result, to: LocalField.clean) { members[key] = value }
    } else {
      if isUnchanged { for (key, value) in adding(result, to: [:]) { members[key] = value } }
      // The newer edit is now an update of an existing record.
      members[LocalField.created] = false
      if !isDeleted(current) { members[LocalField.updated] = true }
    }
    return .patch(
      setting: members, removing: isUnchanged ? LocalField.ofChanges + result.outdated : [LocalField.lastError])
  }

  /// Returns the members of the record in the answer, with the given flags.
  private static func adding(_ result: UploadResult, to flags: JSONObject) -> JSONObject {
    (result.record ?? [:]).filtered { !LocalField.isLocalOnly($0.key) }.replacing(with: flags)
  }
}
