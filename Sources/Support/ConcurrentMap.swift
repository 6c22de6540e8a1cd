extension Array where Element: Sendable {
  /// What `work` makes of each element, in their order; so many are in work at a time.
  /// - Throws: What the first failure throws; the others are cancelled.
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
