import JSON
import MobileSync
import RestClient

/// Sends writes, in batches if there are several, and retries transient refusals.
struct BatchSender: Sendable {
  /// The result of one write.
  enum Outcome: Sendable {
    case done(JSONObject)
    case refused(ServerRefusal)
    /// The write may have been executed although the response is this error, and this cannot be
    /// determined.
    case unknown(ServerRefusal)
    /// The request got no usable response, or looking for its result failed.
    case lost(any Error, mayHaveTakenEffect: Bool)
    /// An earlier request ended the upload.
    case notSent(any Error)

    /// The error that ended the upload.
    var end: (any Error)? {
      switch self {
      case .lost(let error, _), .notSent(let error): error
      default: nil
      }
    }
  }

  /// Whether a create was executed that the server refused with an error of its own.
  enum Finding: Sendable, Equatable {
    case made(JSONObject)
    case notMade
    case unclear
  }

  let exchange: ParseExchange
  let memory: UploadMemory
  let isTransaction: Bool
  /// Looks for the result of a create, by its index.
  let find: @Sendable (Int) async throws -> Finding

  private struct Write: Sendable {
    let position: Int
    let item: ObjectRequest
  }

  /// Sends writes. Nothing is sent after a request that failed as a whole, but earlier results are
  /// kept.
  ///
  /// - Returns: One result for each write, in order.
  func send(_ items: [ObjectRequest]) async -> [Outcome] {
    if let recorder = exchange.intent.recorder { return plan(items, recorder) }
    let writes = items.enumerated().map { Write(position: $0.offset, item: $0.element) }
    return await retry(await send(writes, isTransaction: isTransaction), writes)
  }

  /// Notes what would be sent.
  private func plan(_ items: [ObjectRequest], _ recorder: PlanRecorder) -> [Outcome] {
    let before = recorder.begin(.send, records: 0)
    defer { recorder.resume(before) }
    return BatchRequest.chunks(items, size: min(items.count, memory.batchSize), isTransaction: isTransaction)
      .flatMap { batch in
        recorder.begin(.send, records: batch.items.count)
        let request = batch.items.count == 1 ? batch.items[0].request : batch.request(on: exchange.server)
        let noted = Result { try exchange.intent.check(request, to: exchange.connection.name) }
        let end: any Error = if case .failure(let error) = noted { error } else { UploadNotSent(RequestPlanned()) }
        return batch.items.map { _ in Outcome.notSent(end) }
      }
  }

  // MARK: One request

  private func send(_ writes: [Write], isTransaction: Bool) async -> [Outcome] {
    let batches = BatchRequest.chunks(
      writes.map(\.item), size: min(writes.count, memory.batchSize), isTransaction: isTransaction)
    return await inTurn(batches, writes) { await send($0, $1) }
  }

  /// Sends one batch after the other, until one ends the upload.
  private func inTurn(
    _ batches: [BatchRequest], _ writes: [Write], _ send: (BatchRequest, [Write]) async -> [Outcome]
  ) async -> [Outcome] {
    var outcomes: [Outcome] = [], end: (any Error)?
    for batch in batches {
      let part = Array(writes[outcomes.count...].prefix(batch.items.count))
      if let end {
        outcomes += part.map { _ in .notSent(end) }
      } else {
        let sent = await send(batch, part)
        outcomes += sent
        end = sent.lazy.compactMap(\.end).first
      }
    }
    return outcomes
  }

  /// - Parameter writes: The writes in the batch.
  private func send(_ batch: BatchRequest, _ writes: [Write]) async -> [Outcome] {
    if batch.items.count == 1 { return [await send(batch.items[0])] }
    do {
      return try results(batch, try await exchange.send(batch.request(on: exchange.server), as: .batch))
    } catch {
      if let refusal = (error as? RestError).flatMap({ $0.code == .httpStatus ? ServerRefusal($0) : nil }) {
        if refusal.refusesSize, let halves = batch.halves {
          memory.lowerBatchSize(to: halves[0].items.count)
          return await inTurn(halves, writes) { await send($0, $1) }
        }
        if batch.isTransaction, refusal.status == 500 { return await sendAlone(writes, refusal) }
      }
      return writes.map { _ in .lost(error, mayHaveTakenEffect: Self.mayHaveTakenEffect(error)) }
    }
  }

  /// Sends the writes of a refused transaction one by one: it was rolled back, and the server does
  /// not say which item failed. First verifies the rollback, because the response is the same if
  /// the server fails after the last write.
  private func sendAlone(_ writes: [Write], _ refusal: ServerRefusal) async -> [Outcome] {
    var isRolledBack = false
    let outcomes = await inTurn(writes.map { BatchRequest(items: [$0.item]) }, writes) { _, alone in
      if let known = await look(alone[0], refusal) { return [known] }
      if !alone[0].item.isRepeatable { isRolledBack = true }
      return [await send(alone[0].item)]
    }
    guard !isRolledBack else { return outcomes }
    // It was not verified what became of the transaction, which also contained the creates that are
    // not sent again.
    return zip(outcomes, writes).map { outcome, write in
      if case .notSent(let error) = outcome, !write.item.isRepeatable { return .lost(error, mayHaveTakenEffect: true) }
      return outcome
    }
  }

  private func results(_ batch: BatchRequest, _ response: ConnectionResponse) throws -> [Outcome] {
    let answer = try response.response.json()
    do throws(ParseProblem) {
      return try batch.results(answer).map { result in
        switch result {
        case .success(let object): .done(object)
        case .failure(let refusal): .refused(refusal.following(lostAttempt: response.response.followsLostAttempt))
        }
      }
    } catch {
      throw response.response.invalidBody(error.description)
    }
  }

  /// Sends a write as a request of its own.
  private func send(_ item: ObjectRequest) async -> Outcome {
    do {
      let response = try await exchange.send(item.request, as: item.kind)
      guard let object = try response.response.json().objectValue else {
        throw response.response.invalidBody("the response to a write is not an object")
      }
      return .done(object)
    } catch {
      if let refusal = (error as? RestError).flatMap({ $0.code == .httpStatus ? ServerRefusal($0) : nil }),
        refusal.isAboutTheRecord
      {
        return .refused(refusal)
      }
      return .lost(error, mayHaveTakenEffect: Self.mayHaveTakenEffect(error))
    }
  }

  /// A stopped run sends nothing.
  private static func mayHaveTakenEffect(_ error: any Error) -> Bool {
    error is CancellationError ? false : (error as? RestError)?.mayHaveTakenEffect ?? true
  }

  // MARK: Retries

  /// Retries the writes with a transient refusal. Looks for the result of a create before each
  /// retry, and after the last one.
  private func retry(_ first: [Outcome], _ writes: [Write]) async -> [Outcome] {
    var outcomes = first, attempt = 1
    while true {
      var again: [Write] = [], seconds = 0.0
      for (i, write) in writes.enumerated() {
        guard case .refused(let refusal) = outcomes[i] else { continue }
        guard let attempts = refusal.attempts(for: write.item) else { continue }
        if let known = await look(write, refusal, hasEnded: outcomes.contains { $0.end != nil }) {
          outcomes[i] = known
        } else if let wait = BackOff.seconds(
          afterAttempt: attempt, of: attempts, random: exchange.connection.random(), asked: nil)
        {
          seconds = max(seconds, wait)
          again.append(write)
        }
      }
      guard !again.isEmpty, !outcomes.contains(where: { $0.end != nil }) else { return outcomes }
      do {
        try await exchange.connection.wait(seconds: seconds)
      } catch {
        for write in again { outcomes[write.position] = .notSent(error) }
        return outcomes
      }
      attempt += 1
      // The server says that it failed, which may have been after the write.
      for (write, outcome) in zip(again, await send(again, isTransaction: false)) {
        outcomes[write.position] =
          if case .refused(let refusal) = outcome { .refused(refusal.following(lostAttempt: true)) } else { outcome }
      }
    }
  }

  /// Looks for the result of a write.
  ///
  /// - Parameter hasEnded: The upload has ended, so no more requests are sent.
  /// - Returns: nil if the write was certainly not executed, or can safely be repeated.
  private func look(_ write: Write, _ refusal: ServerRefusal, hasEnded: Bool = false) async -> Outcome? {
    guard !write.item.isRepeatable else { return nil }
    guard !hasEnded else { return .unknown(refusal) }
    do {
      return switch try await find(write.position) {
      case .made(let object): .done(object)
      case .notMade: nil
      case .unclear: .unknown(refusal)
      }
    } catch {
      return .lost(error, mayHaveTakenEffect: true)
    }
  }
}

extension ServerRefusal {
  fileprivate func following(lostAttempt wasLost: Bool) -> ServerRefusal {
    var later = self
    later.followsLostAttempt = followsLostAttempt || wasLost
    return later
  }

  /// Whether this is a response of the server itself about one record. Proxy pages and limits
  /// concern the whole run.
  fileprivate var isAboutTheRecord: Bool {
    if let code { return code != ServerCode.connectionFailed.rawValue }
    return status == 400 || status == 404 || status == 413
  }

  /// The total number of attempts for a write with this refusal; nil if the refusal is final.
  fileprivate func attempts(for item: ObjectRequest) -> Int? {
    switch action(for: item.kind) {
    case .retry(let attempts): attempts
    case .verify: 1
    default: nil
    }
  }
}
