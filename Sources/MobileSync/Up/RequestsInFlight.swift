/// Sends the groups of a batch, several at once if the target allows it.
struct RequestsInFlight: Sendable {
  let target: any SyncUpTarget
  let batch: DirtyBatch
  let context: UploadContext

  typealias Ending = Result<[UploadResult], any Error>

  /// Sends all groups.
  /// - Returns: The result of each group, in order; nil for groups that were not started because
  ///   another one failed.
  func send(_ groups: [UploadGroup]) async -> [Ending?] {
    var endings = [Ending?](repeating: nil, count: groups.count)
    let chains = chains(groups)
    await withTaskGroup(of: [(Int, Ending)].self) { tasks in
      var next = 0, hasFailed = false
      func begin() {
        let chain = chains[next].map { ($0, groups[$0]) }
        next += 1
        tasks.addTask { await send(chain) }
      }
      while next < min(chains.count, max(1, target.traits.requestsAtOnce)) { begin() }
      while let ended = await tasks.next() {
        for (i, ending) in ended {
          endings[i] = ending
          if case .failure = ending { hasFailed = true }
        }
        if next < chains.count, !hasFailed { begin() }
      }
    }
    return endings
  }

  /// Sends the groups of a chain in order, up to the first failure.
  private func send(_ chain: [(Int, UploadGroup)]) async -> [(Int, Ending)] {
    var endings: [(Int, Ending)] = []
    for (i, group) in chain {
      do {
        endings.append((i, .success(try await target.send(group, of: batch, in: context))))
      } catch {
        endings.append((i, .failure(error)))
        break
      }
    }
    return endings
  }

  /// Returns chains of group positions. Groups with the same record are in one chain, so that its
  /// changes arrive in order.
  private func chains(_ groups: [UploadGroup]) -> [[Int]] {
    guard target.traits.requestsAtOnce > 1 else { return groups.isEmpty ? [] : [Array(groups.indices)] }
    var chains: [[Int]] = [], chainOf: IdMap<Int> = [:]
    for (i, group) in groups.enumerated() {
      let ids = group.indices.compactMap(batch.serverId), chain = ids.lazy.compactMap { chainOf[$0] }.first ?? chains.count
      if chain == chains.count { chains.append([]) }
      chains[chain].append(i)
      for id in ids { chainOf[id] = chain }
    }
    return chains
  }
}
