import JSON

/// What is sent of a batch, and the entries that need no request or cannot be sent. No store, network or clock.
struct BatchPlan: Sendable {
  private(set) var uploads: [PlannedUpload] = []
  /// The answers that are known without the server.
  private(set) var answers: [UploadAnswer] = []

  /// - Parameter unsent: What the updates do not send, by position.
  init(_ batch: DirtyBatch, _ unsent: [Int: UnsentChanges]) {
    for i in 0..<batch.count {
      let action = batch.action(i)
      if let answer = BatchPlan.answerWithoutServer(batch, i, action) {
        answers.append(answer)
      } else if let unsent = unsent[i], unsent.isAll {
        let sent = SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: action)
        answers.append(UploadAnswer(sent: sent, outcome: .skipped, result: .nothingToSend(unsent.names)))
      } else {
        uploads.append(PlannedUpload(index: i, action: action, type: batch.type(i)))
      }
    }
  }

  /// Returns the answer of an upload that needs no request, or cannot be sent.
  private static func answerWithoutServer(_ batch: DirtyBatch, _ i: Int, _ action: UploadAction) -> UploadAnswer? {
    let sent = SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: action)
    switch action {
    case .removeLocally: return UploadAnswer(sent: sent, outcome: .succeeded, result: UploadResult(isSuccess: true))
    case .nothing: return UploadAnswer(sent: sent, outcome: .skipped, result: UploadResult(isSuccess: true))
    default: return UploadAnswer.refusal(of: action, batch, i).map { UploadAnswer(sent: sent, outcome: .failed, result: $0) }
    }
  }
}
