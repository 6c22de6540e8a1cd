extension Array where Element: Sendable {
  /// Transforms each element with `work`, running at most `limit` of the calls at a time.
  /// - Returns: The results in the order of the elements.
  /// - Throws: The first error that `work` throws; the other calls are cancelled.
  package func concurrentMap<Made: Sendable>(
    atMost limit: Int, _ work: @escaping @Sendable (Element) async throws -> Made
  ) async throws -> [Made] {
    try await withThrowingTaskGroup(of: (Int, Made).self) { group in
      var made = [Made?](repeating: nil, count: count), next = 0
      func begin() {
        guard next < count else { return }
        let i = next, element = self[i]
        next += 1
        group.addTask { (i, try await work(element)) }
      }
      for _ in 0..<Swift.max(1, limit) { begin() }
      while let (i, value) = try await group.next() {
        made[i] = .some(value)
        begin()
      }
      return made.compactMap { $0 }
    }
  }
}
