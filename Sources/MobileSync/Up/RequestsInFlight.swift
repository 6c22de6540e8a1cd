/// Sends the groups of a batch, several at once where the target allows it.
struct RequestsInFlight: Sendable {
  let target: any SyncUpTarget
  let batch: DirtyBatch
  let context: UploadContext

  typealias Ending = Result<[UploadResult], any Error>

  /// - Returns: How each group ended, in their order; nil for those that were not begun, since another had failed.
  func send(_ groups: [UploadGroup]) async -> [Ending?] {
    var endings = [Ending?](repeating: nil, count: groups.count)
    let lanes = lanes(groups)
    await withTaskGroup(of: [(Int, Ending)].self) { tasks in
      var next = 0, hasFailed = false
      func begin() {
        let lane = lanes[next].map { ($0, groups[$0]) }
        next += 1
        tasks.addTask { await send(lane) }
      }
      while next < min(lanes.count, max(1, target.requestsAtOnce)) { begin() }
      while let ended = await tasks.next() {
        for (i, ending) in ended {
          endings[i] = ending
          if case .failure = ending { hasFailed = true }
        }
        if next < lanes.count, !hasFailed { begin() }
      }
    }
    return endings
  }

  /// One group after the other, up to the first that fails.
  private func send(_ lane: [(Int, UploadGroup)]) async -> [(Int, Ending)] {
    var endings: [(Int, Ending)] = []
    for (i, group) in lane {
      do {
        endings.append((i, .success(try await target.send(group, of: batch, in: context))))
      } catch {
        endings.append((i, .failure(error)))
        break
      }
    }
    return endings
  }

  /// Positions of the groups: those that have a record in common in one lane, so that its changes arrive in their order.
  private func lanes(_ groups: [UploadGroup]) -> [[Int]] {
    guard target.requestsAtOnce > 1 else { return groups.isEmpty ? [] : [Array(groups.indices)] }
    var lanes: [[Int]] = [], laneOf: [String: Int] = [:]
    for (i, group) in groups.enumerated() {
      let ids = group.indices.compactMap(batch.serverId), lane = ids.lazy.compactMap { laneOf[$0] }.first ?? lanes.count
      if lane == lanes.count { lanes.append([]) }
      lanes[lane].append(i)
      for id in ids { laneOf[id] = lane }
    }
    return lanes
  }
}
