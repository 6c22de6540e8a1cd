/// Finds a shorter script that fails as well.
struct ScriptShrinker {
  struct Found {
    let script: ClientScript
    let problems: [String]
    let history: [String]

    func text(title: String) -> String {
      """
      # \(title)

      \(script.mode.rawValue), \(script.upload.rawValue); the clients' clocks are ahead by \(script.clocks) s.

      ## Steps
      \(script.steps.enumerated().map { "\($0 + 1). \($1)" }.joined(separator: "\n"))

      ## Expected
      Both sides equal, every record once, no edit lost, nothing left dirty.

      ## Seen
      \(problems.map { "- " + $0 }.joined(separator: "\n"))

      ## In detail
      ```
      \(history.joined(separator: "\n"))
      ```
      """
    }
  }

  private let world: ClientWorld
  /// The maximum number of runs of the search.
  private static let attempts = 300

  init(_ world: ClientWorld) { self.world = world }

  func shortest(_ script: ClientScript) async throws -> Found {
    var best = try await walk(script) ?? Found(script: script, problems: ["only once, not when it was walked again"], history: [])
    var left = Self.attempts, isShorter = true
    while isShorter, left > 0 {
      isShorter = false
      for candidate in Self.shorter(best.script) where left > 0 {
        left -= 1
        guard let found = try await walk(candidate) else { continue }
        best = found
        isShorter = true
        break
      }
    }
    return best
  }

  private func walk(_ script: ClientScript) async throws -> Found? {
    let scenario = ClientScenario(world, script)
    let problems = try await scenario.run()
    return problems.isEmpty ? nil : Found(script: script, problems: problems, history: scenario.history)
  }

  /// Returns scripts without some of the steps, halves first; without one event; with correct
  /// clocks.
  private static func shorter(_ script: ClientScript) -> [ClientScript] {
    var found: [ClientScript] = []
    func with(_ steps: [ClientStep]) {
      var next = script
      next.steps = steps
      found.append(next)
    }
    for size in [8, 4, 2, 1] where size <= script.steps.count {
      for start in stride(from: 0, to: script.steps.count, by: size) {
        with(Array(script.steps[..<start] + script.steps[min(start + size, script.steps.count)...]))
      }
    }
    for (i, step) in script.steps.enumerated() {
      guard case .syncs(let client, let word, let events) = step else { continue }
      for j in events.indices {
        var steps = script.steps, fewer = events
        fewer.remove(at: j)
        steps[i] = .syncs(client, word, fewer)
        with(steps)
      }
    }
    if script.clocks != [0, 0] {
      var next = script
      next.clocks = [0, 0]
      found.append(next)
    }
    return found
  }
}
