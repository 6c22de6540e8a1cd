import JSON
import MobileSync
import RestClient

/// Sends writes, in batches where there are several, and those again that may pass.
struct BatchSender: Sendable {
  /// What became of one write.
  typealias Outcome = Result<JSONObject, ServerRefusal>

  let exchange: ParseExchange
  let memory: UploadMemory
  let isTransaction: Bool
  /// Looks for what a create may have made, by its position; nil where nothing is found, an error where there is no way to look.
  let find: @Sendable (Int) async throws -> JSONObject?

  /// There is no way to tell what became of a create.
  struct CannotFind: Error {}

  /// - Returns: One for each, in order.
  /// - Throws: `RestError` when a request as a whole failed.
  func send(_ items: [ObjectRequest]) async throws -> [Outcome] {
    var outcomes: [Outcome] = []
    for chunk in BatchRequest.chunks(items, size: min(items.count, memory.batchSize), isTransaction: isTransaction) {
      outcomes += try await send(chunk)
    }
    return try await retry(outcomes, items)
  }

  // MARK: One request

  private func send(_ batch: BatchRequest) async throws -> [Outcome] {
    if batch.items.count == 1 { return [try await send(batch.items[0])] }
    do {
      let response = try await exchange.send(batch.request(on: exchange.server), as: .batch)
      return try results(batch, response)
    } catch let error as RestError where error.code == .httpStatus {
      guard let refusal = ServerRefusal(error) else { throw error }
      if refusal.refusesSize, let halves = batch.halves {
        memory.lowerBatchSize(to: halves[0].items.count)
        return try await sendEach(halves)
      }
      // All was rolled back, and the guilty one is not named.
      guard batch.isTransaction, refusal.status == 500 else { throw error }
      return try await sendEach(batch.items.map { BatchRequest(items: [$0]) })
    }
  }

  private func sendEach(_ batches: [BatchRequest]) async throws -> [Outcome] {
    var outcomes: [Outcome] = []
    for batch in batches { outcomes += try await send(batch) }
    return outcomes
  }

  private func results(_ batch: BatchRequest, _ response: ConnectionResponse) throws -> [Outcome] {
    let answer = try response.response.json()
    do throws(ParseProblem) {
      return try batch.results(answer)
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
      return .success(object)
    } catch let error as RestError where error.code == .httpStatus {
      guard let refusal = ServerRefusal(error), refusal.isAboutTheRecord else { throw error }
      return .failure(refusal)
    }
  }

  // MARK: Again

  /// Sends those again whose refusal says that they may pass. A create is looked for before.
  private func retry(_ first: [Outcome], _ items: [ObjectRequest]) async throws -> [Outcome] {
    var outcomes = first, attempt = 1
    while true {
      var again: [Int] = [], seconds = 0.0
      for i in outcomes.indices {
        guard case .failure(let refusal) = outcomes[i] else { continue }
        switch refusal.action(for: items[i].kind) {
        case .verify:
          if attempt == 1, let found = try await lookFor(i, items[i]).found { outcomes[i] = .success(found) }
        case .retry(let attempts):
          guard
            let wait = BackOff.seconds(
              afterAttempt: attempt, of: attempts, random: exchange.connection.random(), asked: nil)
          else { continue }
          seconds = max(seconds, wait)
          again.append(i)
        default: continue
        }
      }
      guard !again.isEmpty else { return outcomes }
      try await exchange.connection.wait(seconds: seconds)
      attempt += 1
      var open: [Int] = []
      for i in again {
        let look = try await lookFor(i, items[i])
        if let found = look.found { outcomes[i] = .success(found) } else if look.maySend { open.append(i) }
      }
      guard !open.isEmpty else { return outcomes }
      var fresh: [Outcome] = []
      for chunk in BatchRequest.chunks(open.map { items[$0] }, size: min(open.count, memory.batchSize)) {
        fresh += try await send(chunk)
      }
      for (i, outcome) in zip(open, fresh) { outcomes[i] = outcome }
    }
  }

  /// Whether a write was carried out although it was refused.
  private func lookFor(_ i: Int, _ item: ObjectRequest) async throws -> (found: JSONObject?, maySend: Bool) {
    guard !item.isRepeatable else { return (nil, true) }
    do {
      return (try await find(i), true)
    } catch is CannotFind {
      return (nil, false)
    }
  }
}

extension ServerRefusal {
  /// An answer of the server itself, which others of the run need not get; pages of proxies and limits are about the run.
  fileprivate var isAboutTheRecord: Bool {
    if let code { return code != ServerCode.connectionFailed.rawValue }
    return status == 400 || status == 404 || status == 413
  }
}
