import JSON
import MobileSync
import RestClient

/// Sends writes, in batches where there are several, and those again that may pass.
struct BatchSender: Sendable {
  /// What became of one write.
  enum Outcome: Sendable {
    case done(JSONObject)
    case refused(ServerRefusal)
    /// A create that may have been carried out although its answer is this error, and nothing tells.
    case unknown(ServerRefusal)
  }

  /// Whether a create that was refused with an error of the server itself was carried out.
  enum Finding: Sendable, Equatable {
    case made(JSONObject)
    case notMade
    case unclear
  }

  let exchange: ParseExchange
  let memory: UploadMemory
  let isTransaction: Bool
  /// Looks for what a create may have made, by its position.
  let find: @Sendable (Int) async throws -> Finding

  private struct Write: Sendable {
    let position: Int
    let item: ObjectRequest
  }

  /// - Returns: One for each, in order.
  /// - Throws: `RestError` when a request as a whole failed.
  func send(_ items: [ObjectRequest]) async throws -> [Outcome] {
    let writes = items.enumerated().map { Write(position: $0.offset, item: $0.element) }
    return try await retry(try await send(writes, isTransaction: isTransaction), writes)
  }

  // MARK: One request

  private func send(_ writes: [Write], isTransaction: Bool) async throws -> [Outcome] {
    let batches = BatchRequest.chunks(
      writes.map(\.item), size: min(writes.count, memory.batchSize), isTransaction: isTransaction)
    var outcomes: [Outcome] = []
    for batch in batches { outcomes += try await send(batch, Array(writes[outcomes.count...].prefix(batch.items.count))) }
    return outcomes
  }

  /// - Parameter writes: Those of the batch.
  private func send(_ batch: BatchRequest, _ writes: [Write]) async throws -> [Outcome] {
    if batch.items.count == 1 { return [try await send(batch.items[0])] }
    do {
      let response = try await exchange.send(batch.request(on: exchange.server), as: .batch)
      return try results(batch, response)
    } catch let error as RestError where error.code == .httpStatus {
      guard let refusal = ServerRefusal(error) else { throw error }
      if refusal.refusesSize, let halves = batch.halves {
        memory.lowerBatchSize(to: halves[0].items.count)
        var outcomes: [Outcome] = []
        for half in halves { outcomes += try await send(half, Array(writes[outcomes.count...].prefix(half.items.count))) }
        return outcomes
      }
      guard batch.isTransaction, refusal.status == 500 else { throw error }
      return try await sendAlone(writes, refusal)
    }
  }

  /// After a transaction that was refused: all was rolled back, and the guilty one is not named. That it was is looked at, since
  /// the answer is the same when the server fails behind the last write.
  private func sendAlone(_ writes: [Write], _ refusal: ServerRefusal) async throws -> [Outcome] {
    var outcomes: [Outcome] = []
    for write in writes {
      if let known = try await look(write, refusal) {
        outcomes.append(known)
      } else {
        outcomes.append(try await send(write.item))
      }
    }
    return outcomes
  }

  private func results(_ batch: BatchRequest, _ response: ConnectionResponse) throws -> [Outcome] {
    let answer = try response.response.json()
    do throws(ParseProblem) {
      return try batch.results(answer).map { result in
        switch result {
        case .success(let object): .done(object)
        case .failure(let refusal): .refused(refusal)
        }
      }
    } catch {
      throw response.response.invalidBody(error.description)
    }
  }

  /// A write of its own.
  private func send(_ item: ObjectRequest) async throws -> Outcome {
    do {
      let response = try await exchange.send(item.request, as: item.kind)
      guard let object = try response.response.json().objectValue else {
        throw response.response.invalidBody("the answer to a write is not an object")
      }
      return .done(object)
    } catch let error as RestError where error.code == .httpStatus {
      guard let refusal = ServerRefusal(error), refusal.isAboutTheRecord else { throw error }
      return .refused(refusal)
    }
  }

  // MARK: Again

  /// Sends those again whose refusal says that they may pass. A create is looked for before, and behind the last try.
  private func retry(_ first: [Outcome], _ writes: [Write]) async throws -> [Outcome] {
    var outcomes = first, attempt = 1
    while true {
      var again: [Write] = [], seconds = 0.0
      for (i, write) in writes.enumerated() {
        guard case .refused(let refusal) = outcomes[i] else { continue }
        guard let attempts = refusal.attempts(for: write.item) else { continue }
        if let known = try await look(write, refusal) {
          outcomes[i] = known
        } else if let wait = BackOff.seconds(
          afterAttempt: attempt, of: attempts, random: exchange.connection.random(), asked: nil)
        {
          seconds = max(seconds, wait)
          again.append(write)
        }
      }
      guard !again.isEmpty else { return outcomes }
      try await exchange.connection.wait(seconds: seconds)
      attempt += 1
      for (write, outcome) in zip(again, try await send(again, isTransaction: false)) { outcomes[write.position] = outcome }
    }
  }

  /// - Returns: nil when the write was surely not carried out, or does no harm when it is sent twice.
  private func look(_ write: Write, _ refusal: ServerRefusal) async throws -> Outcome? {
    guard !write.item.isRepeatable else { return nil }
    return switch try await find(write.position) {
    case .made(let object): .done(object)
    case .notMade: nil
    case .unclear: .unknown(refusal)
    }
  }
}

extension ServerRefusal {
  /// An answer of the server itself, which others of the run need not get; pages of proxies and limits are about the run.
  fileprivate var isAboutTheRecord: Bool {
    if let code { return code != ServerCode.connectionFailed.rawValue }
    return status == 400 || status == 404 || status == 413
  }

  /// How often a write with this refusal is sent in all; nil when the refusal is final.
  fileprivate func attempts(for item: ObjectRequest) -> Int? {
    switch action(for: item.kind) {
    case .retry(let attempts): attempts
    case .verify: 1
    default: nil
    }
  }
}
