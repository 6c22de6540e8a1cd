import RestClient

/// The outcome of one record's upload, and the rules for reading answers to single records, batches
/// and families.
struct UploadAnswer: Sendable {
  let sent: SentRecord
  var outcome: UploadOutcome
  let result: UploadResult
  /// Whether another run is sending the entry.
  var isHeld = false

  var isPartial: Bool { outcome == .succeeded && result.isPartial }

  /// Returns why a record cannot be sent; nil if it can.
  static func refusal(of action: UploadAction, _ batch: DirtyBatch, _ i: Int) -> UploadResult? {
    func failed(_ code: String, _ message: String) -> UploadResult { .failure(code, message) }
    switch action {
    case .removeLocally, .nothing: return nil
    case .create, .upsert:
      return batch.plan.create == nil
        ? failed("NO_FIELDLIST", "No fields specified: the target has no createFieldlist, the options no fieldlist") : nil
    case .update:
      if batch.plan.update == nil {
        return failed("NO_FIELDLIST", "No fields specified: the target has no updateFieldlist, the options no fieldlist")
      }
      return missingId(batch, i)
    case .delete: return missingId(batch, i)
    }
  }

  private static func missingId(_ batch: DirtyBatch, _ i: Int) -> UploadResult? {
    batch.serverId(i) == nil ? .failure("MISSING_ID", "The entry is not new but has no server Id") : nil
  }

  static func mayHaveTakenEffect(_ error: any Error) -> Bool { (error as? RestError)?.mayHaveTakenEffect ?? true }

  static func outcome(of action: UploadAction, _ result: UploadResult, _ mergeMode: MergeMode) -> UploadOutcome {
    switch action {
    case _ where result.isSuccess: .succeeded
    case _ where result.hasNothingToSend: .skipped
    case _ where result.isInDoubt: .inDoubt
    case .delete where result.maySayRecordIsGone: .succeeded
    // Checked once more before anything is created.
    case .update where result.maySayRecordIsGone: mergeMode == .overwrite ? .recreate : .conflicting
    case .update where result.saysRecordHasChanged, .delete where result.saysRecordHasChanged: .conflicting
    default: .failed
    }
  }
}
