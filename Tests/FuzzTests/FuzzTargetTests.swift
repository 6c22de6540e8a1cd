import Testing

/// Runs every fuzz target: the corpus in `Tests/Fixtures/Fuzz`, then changed and generated inputs. `scripts/dev/fuzz` runs them
/// for long, and says how to run a failing input again.
@Suite(.serialized) struct FuzzTargetTests {
  @Test(.timeLimit(.minutes(180)), arguments: FuzzTargets.chosen)
  func target_damagedInputs_keepItsRules(name: String) async throws {
    let target = try #require(FuzzTargets.all.first { $0.name == name }, "there is no target '\(name)'")
    let report = try await FuzzRun(target).run()
    for failure in report.failures { Issue.record("\(name): \(failure)") }
    print(
      "fuzzed \(name): \(report.rounds) rounds from seed \(FuzzSettings.environment.seed), \(report.refused) refused, "
        + "\(report.kept) inputs kept, \(report.failures.count) failures")
    #expect(report.rounds > 0 || FuzzSettings.environment.input != nil)
  }
}

enum FuzzTargets {
  static let all: [any FuzzTarget] = [
    JSONTarget(), LinkTarget.target, AnswerTarget.target, ConfigurationTarget.target, QueryTarget(language: .soql),
    QueryTarget(language: .sosl), SmartSQLTarget(), SandboxHTTPTarget(), RequestTarget(), ActionTarget(),
    ExchangeTarget.target,
  ]

  /// The target of `TUREEN_FUZZ_TARGET`, or all of them.
  static let chosen = FuzzSettings.environment.target.map { [$0] } ?? all.map(\.name)
}
