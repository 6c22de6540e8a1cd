import JSON

/// What an answer means for the row it belongs to. No store, network or clock.
enum RowChange: Sendable, Equatable {
  case remove
  case patch(setting: JSONObject, removing: [String])
  case none
}

/// How one record's upload ended, for the counts.
enum UploadOutcome: Sendable, Equatable {
  case succeeded, failed
  /// Changed on both sides, and the merge mode leaves it.
  case conflicting
  /// Nothing was to be sent.
  case skipped
  /// To be created anew: the server deleted it, and the merge mode lets the local change win.
  case recreate
}

/// One record that was sent, as it was when it was sent.
struct SentRecord: Sendable {
  let entryId: Int64
  let version: Int64
  let action: UploadAction
}

enum WriteBack {
  /// - Parameters:
  ///   - current: The entry as it stands now; nil when it was removed meanwhile.
  ///   - isUnchanged: It is the version that was sent. Otherwise it was edited during the upload, and stays dirty.
  static func change(
    for answer: UploadAnswer, current: JSONObject?, isUnchanged: Bool, idField: String
  ) -> RowChange {
    guard let current else { return .none }
    let (sent, outcome, result) = (answer.sent, answer.outcome, answer.result)
    switch outcome {
    case .conflicting, .skipped: return .none
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
      return .patch(setting: adding(result, to: LocalField.clean), removing: [LocalField.lastError] + result.outdated)
    }
  }

  private static func isDeleted(_ entry: JSONObject) -> Bool { entry.hasFlag(LocalField.deleted) }

  private static func deleted(_ current: JSONObject, isUnchanged: Bool) -> RowChange {
    if isUnchanged || isDeleted(current) { return .remove }
    // The deletion was taken back while it was sent: the server has to get the record once more.
    return .patch(
      setting: [LocalField.local: true, LocalField.created: true, LocalField.deleted: false],
      removing: [LocalField.lastError])
  }

  private static func created(
    _ current: JSONObject, _ result: UploadResult, isUnchanged: Bool, idField: String
  ) -> RowChange {
    var members: JSONObject = [:]
    // Inside an object it comes with the record, where there is one.
    if let id = result.id, !idField.contains(".") || result.record == nil {
      let (key, value) = Projection.member(.string(id), at: idField, in: current)
      members[key] = value
    }
    if isUnchanged, !result.isPartial {
      for (key, value) in adding(result, to: LocalField.clean) { members[key] = value }
    } else {
      if isUnchanged { for (key, value) in adding(result, to: [:]) { members[key] = value } }
      // The newer edit is a change of the record that now exists.
      members[LocalField.created] = false
      if !isDeleted(current) { members[LocalField.updated] = true }
    }
    return .patch(setting: members, removing: [LocalField.lastError] + (isUnchanged ? result.outdated : []))
  }

  /// What the server says the record has, with the entry's flags.
  private static func adding(_ result: UploadResult, to flags: JSONObject) -> JSONObject {
    (result.record ?? [:]).filtered { !LocalField.isLocalOnly($0.key) }.replacing(with: flags)
  }
}
