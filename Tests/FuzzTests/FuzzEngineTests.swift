import Foundation
import Support
import TestSupport
import Testing

/// The fuzz engine, on a target with a known mistake.
@Suite struct FuzzEngineTests {
  /// Accepts digits, refuses other texts, and breaks its rule for texts with `7` and `x`.
  private struct Broken: FuzzTarget {
    let name = "broken"
    let usualRounds = 1_500
    let dictionary = ["x"]
    var remembers = false
    var sessionRounds = 1_000

    final class Session: FuzzSession {
      func run(_ input: [UInt8]) throws -> FuzzOutcome {
        try FuzzFailure.unless(
          !(input.contains(UInt8(ascii: "7")) && input.contains(UInt8(ascii: "x"))), "rule broken by \(input.count) bytes")
        let others = input.count { !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0) }
        return others == 0 ? .accepted("\(FuzzSignal.magnitude(input.count))") : .refused("\(others > 3)")
      }
    }
    func open() -> any FuzzSession { Session() }
  }

  private let folder: TemporaryFolder
  private var settings = FuzzSettings()

  init() throws {
    folder = try TemporaryFolder()
    for name in ["corpora/broken", "keep", "failed"] {
      try FileManager.default.createDirectory(atPath: folder.path + "/" + name, withIntermediateDirectories: true)
    }
    try FileSystem.write(Array("1234567".utf8), to: folder.path + "/corpora/broken/valid-digits")
    settings.failed = folder.path + "/failed"
  }

  private func run(_ target: Broken, _ settings: FuzzSettings) async throws -> FuzzRun.Report {
    try await FuzzRun(target, settings, corpora: folder.path + "/corpora").run()
  }

  private func files(_ name: String) throws -> [[UInt8]] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path + "/" + name).sorted()
      .compactMap { FileSystem.read(folder.path + "/" + name + "/" + $0) }
  }

  @Test func run_brokenRule_isFoundShrunkAndWritten() async throws {
    let report = try await run(Broken(), settings)
    #expect(report.rounds == 1_500 && report.failures.count == 1 && report.refused > 0)
    let failed = try files("failed")
    #expect(failed.count == 1 && failed[0].count == 2 && Set(failed[0]) == Set("7x".utf8))
    #expect(report.failures[0].contains("TUREEN_FUZZ_SEED=4242") && report.failures[0].contains(folder.path + "/failed/broken-"))
  }

  @Test func run_oneInput_breaksTheRuleAgain() async throws {
    var settings = settings
    settings.input = folder.path + "/input"
    try FileSystem.write(Array("x7".utf8), to: folder.path + "/input")
    let report = try await run(Broken(), settings)
    #expect(report.rounds == 0 && report.failures.count == 1)
  }

  @Test func run_rememberingTarget_writesTheInputsOfTheSession() async throws {
    _ = try await run(Broken(remembers: true, sessionRounds: 40), settings)
    let failed = try #require(try files("failed").first)
    #expect((1...40).contains(failed.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).count))
  }

  @Test func run_refusedValidSeed_isAFailure() async throws {
    try FileSystem.write(Array("12a".utf8), to: folder.path + "/corpora/broken/valid-letter")
    let report = try await run(Broken(), settings)
    #expect(report.failures.contains { $0.hasPrefix("refused the seed valid-letter") })
  }

  @Test func run_keptInputs_haveNewSignalsAndAreReadAgain() async throws {
    var settings = settings
    settings.keep = folder.path + "/keep"
    let report = try await run(Broken(), settings), kept = try files("keep/broken")
    #expect(report.kept == kept.count && kept.count > 1)
    #expect(
      try FuzzCorpus(target: "broken", in: folder.path + "/corpora", keepFolder: settings.keep).inputs.count == kept.count + 1)
  }

  @Test func run_lastInput_staysInItsFile() async throws {
    var settings = settings
    settings.last = folder.path + "/last"
    settings.rounds = 0
    _ = try await run(Broken(), settings)
    #expect(FileSystem.read(folder.path + "/last") == Array("1234567".utf8))
  }

  @Test func mutator_sameSeed_sameInputs() {
    func inputs(_ seed: UInt64) -> [[UInt8]] {
      var mutator = FuzzMutator(random: SeededGenerator(state: seed), dictionary: ["word"])
      let texts = ["{\"a\":[1,2,{\"b\":null}]}", "plain text 42", ""].map { Array($0.utf8) }
      return (0..<600).map { mutator.changed(texts[$0 % 3], of: FuzzPool(inputs: texts, accepted: [])) }
    }
    let first = inputs(1)
    #expect(first == inputs(1) && first != inputs(2))
    #expect(first.allSatisfy { $0.count <= FuzzMutator.mostBytes + 8 } && Set(first).count > 300)
    #expect(first.contains { String(validating: $0, as: UTF8.self) == nil }, "some inputs are not UTF-8")
    #expect(first.contains { $0.count > 1_000 }, "some inputs are long")
  }

  /// Each parser of each target has an input that it accepts: a corpus without one tests only the first check of a parser.
  @Test func corpora_everyPart_hasAValidInput() throws {
    #expect(Set(FuzzTargets.all.map(\.name)) == Set(try FileManager.default.contentsOfDirectory(atPath: FuzzCorpus.folder)))
    for target in FuzzTargets.all {
      let seeds = try FuzzCorpus(target: target.name, keepFolder: nil).seeds.filter { $0.name.hasPrefix("valid") }
      #expect(!seeds.isEmpty, "\(target.name)")
      let covered = Set(seeds.map { PartedInput.split($0.bytes).part })
      #expect(
        Set(target.parts).subtracting(covered).isEmpty,
        "\(target.name) has no valid input of \(Set(target.parts).subtracting(covered))")
    }
  }
}
