import Foundation
import Support
import TestSupport

/// Runs the inputs of a target: its corpus, then changed and generated inputs.
///
/// One thread at a time uses it: the one that runs a session.
final class FuzzRun: @unchecked Sendable {
  struct Report: Sendable {
    var rounds = 0, refused = 0, kept = 0
    var failures: [String] = []
  }

  private let target: any FuzzTarget
  private let settings: FuzzSettings
  private let recorder: FuzzRecorder?
  private var corpus: FuzzCorpus
  private var mutator: FuzzMutator
  private var waiting: ArraySlice<FuzzCorpus.Seed>
  private var report = Report()
  private var failedShapes: Set<String> = []
  /// The inputs of this session, if the target remembers them.
  private var history: [[UInt8]] = []
  private let start = ContinuousClock.now
  /// Rules broken in different ways before the run gives up.
  private static let mostFailures = 5

  init(_ target: any FuzzTarget, _ settings: FuzzSettings = .environment, corpora: String = FuzzCorpus.folder) throws {
    self.target = target
    self.settings = settings
    corpus = try FuzzCorpus(target: target.name, in: corpora, keepFolder: settings.keep)
    recorder = FuzzRecorder(settings.last, appends: target.remembers)
    mutator = FuzzMutator(random: SeededGenerator(state: settings.seed), dictionary: target.dictionary)
    waiting = corpus.seeds[...]
    if let path = settings.input {
      guard let bytes = FileSystem.read(path) else { throw FuzzFailure(message: "cannot read \(path)") }
      waiting = [FuzzCorpus.Seed(name: path, bytes: bytes)]
    }
  }

  /// Runs everything. Each session has a thread of its own, because inputs may block.
  func run() async throws -> Report {
    var goesOn = true
    while goesOn {
      let session = try await target.open()
      goesOn = try await withCheckedThrowingContinuation { done in
        FuzzThread.start { done.resume(with: Result { try self.perform(session) }) }
      }
      await session.close()
    }
    report.kept = corpus.keptCount
    return report
  }

  /// Runs one session.
  /// - Returns: Whether another one follows.
  private func perform(_ session: any FuzzSession) throws -> Bool {
    recorder?.beginSession()
    history = []
    let goesOn = try rounds(in: session)
    do { try session.finish() } catch {
      let failure = error as? FuzzFailure
      try fail("after the session: \(failure?.message ?? "\(error)")", failure?.input ?? [], in: session)
    }
    return goesOn
  }

  private func rounds(in session: any FuzzSession) throws -> Bool {
    for _ in 0..<target.sessionRounds {
      if let seed = waiting.popFirst() {
        try round(seed.bytes, in: session, seed: seed.name)
      } else {
        guard settings.input == nil, settings.goesOn(report.rounds, usual: target.usualRounds, since: start),
          report.failures.count < Self.mostFailures
        else { return false }
        report.rounds += 1
        try round(next(), in: session)
      }
    }
    return true
  }

  private func next() -> [UInt8] {
    if mutator.random.chance(2), let input = target.generated(&mutator.random) { return input }
    let pool = FuzzPool(inputs: corpus.inputs, accepted: corpus.accepted)
    return target.changed(pool.pick(&mutator.random), by: &mutator, of: pool)
  }

  private func round(_ input: [UInt8], in session: any FuzzSession, seed: String? = nil) throws {
    recorder?.note(input)
    if target.remembers { history.append(input) }
    do {
      let outcome = try session.run(input)
      if !outcome.isAccepted { report.refused += 1 }
      if seed?.hasPrefix("valid") == true {
        try FuzzFailure.unless(outcome.isAccepted, "refused the seed \(seed ?? ""): \(outcome.signal)")
      }
      if settings.input != nil { print("fuzz \(target.name): \(outcome.isAccepted ? "accepted" : "refused") \(outcome.signal)") }
      try corpus.learn(input, outcome, isSeed: seed != nil)
    } catch {
      try fail((error as? FuzzFailure)?.message ?? "unexpected error: \(error)", input, in: session)
    }
  }

  /// Writes an input that breaks a rule to a file, as small as possible.
  private func fail(_ message: String, _ input: [UInt8], in session: any FuzzSession) throws {
    guard failedShapes.insert(FuzzSignal.shape(message)).inserted else { return }
    let separator = [UInt8(ascii: "\n")]
    let kept =
      target.remembers
      ? Array(history.joined(separator: separator))
      : FuzzShrinker.shrunk(input) { shorter in
        recorder?.note(shorter)
        do {
          _ = try session.run(shorter)
          return false
        } catch {
          return FuzzSignal.shape((error as? FuzzFailure)?.message ?? "unexpected error: \(error)") == FuzzSignal.shape(message)
        }
      }
    try FileManager.default.createDirectory(atPath: settings.failed, withIntermediateDirectories: true)
    let path = "\(settings.failed)/\(target.name)-\(FuzzCorpus.name(of: kept))"
    try FileSystem.write(kept, to: path)
    report.failures.append(
      """
      \(message.prefix(2000))
        input: \(path), TUREEN_FUZZ_SEED=\(settings.seed), round \(report.rounds)
        again: TUREEN_FUZZ_TARGET=\(target.name) TUREEN_FUZZ_INPUT=\(path) scripts/dev/test-one FuzzTests/FuzzTargetTests
      """)
  }
}

/// Removes from a failing input what its failure does not need.
enum FuzzShrinker {
  /// Runs of the target, at most.
  private static let mostRuns = 2_000

  /// - Parameter fails: Whether a shorter input fails in the same way.
  static func shrunk(_ input: [UInt8], _ fails: ([UInt8]) -> Bool) -> [UInt8] {
    var input = input, size = input.count / 2, runs = 0
    while size > 0 {
      var at = 0
      while at < input.count, runs < mostRuns {
        var shorter = input
        shorter.removeSubrange(at..<min(input.count, at + size))
        runs += 1
        if fails(shorter) { input = shorter } else { at += size }
      }
      size /= 2
    }
    return input
  }
}

/// A plain thread for a session: blocking is not allowed on the cooperative pool.
enum FuzzThread {
  static func start(_ body: @escaping @Sendable () -> Void) {
    let thread = Foundation.Thread(block: body)
    // Deep inputs need the same stack as on the main thread.
    thread.stackSize = 8 << 20
    thread.start()
  }
}
