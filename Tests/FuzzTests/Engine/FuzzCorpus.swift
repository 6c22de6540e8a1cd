import Foundation
import Support
import TestSupport

/// The inputs that a run starts from and adds to.
struct FuzzCorpus: Sendable {
  struct Seed: Sendable {
    /// The file's name. An input whose name starts with `valid` must be accepted.
    let name: String
    let bytes: [UInt8]
  }

  /// The inputs of the repository, by name.
  let seeds: [Seed]
  private(set) var inputs: [[UInt8]]
  /// Those of the inputs that the target has accepted.
  private(set) var accepted: [[UInt8]] = []
  private(set) var keptCount = 0
  private var signals: Set<UInt64> = []
  private let keepFolder: String?
  /// More inputs than this would mostly be slight variations.
  private static let mostInputs = 5_000

  /// The corpora in the repository: one folder per target.
  static let folder: String = {
    let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return tests.path + "/Fixtures/Fuzz"
  }()

  /// - Parameters:
  ///   - folder: The corpora of all targets.
  ///   - keepFolder: Where inputs with new signals are written, and where those of earlier runs are; nil keeps them in memory.
  init(target: String, in folder: String = FuzzCorpus.folder, keepFolder: String?) throws {
    seeds = try Self.read(folder + "/" + target)
    inputs = seeds.map(\.bytes)
    self.keepFolder = keepFolder.map { $0 + "/" + target }
    guard let keepFolder = self.keepFolder else { return }
    try FileManager.default.createDirectory(atPath: keepFolder, withIntermediateDirectories: true)
    inputs += try Self.read(keepFolder).map(\.bytes)
  }

  private static func read(_ folder: String) throws -> [Seed] {
    try FileManager.default.contentsOfDirectory(atPath: folder).sorted().compactMap { name in
      FileSystem.read(folder + "/" + name).map { Seed(name: name, bytes: $0) }
    }
  }

  /// Adds the input if the signal of its outcome is new.
  /// - Parameter isSeed: Whether the input is already part of the corpus.
  mutating func learn(_ input: [UInt8], _ outcome: FuzzOutcome, isSeed: Bool) throws {
    let isNew = signals.insert(FuzzSignal.hash(outcome.signal.utf8)).inserted
    guard isSeed || isNew && inputs.count < Self.mostInputs else { return }
    if outcome.isAccepted { accepted.append(input) }
    guard !isSeed else { return }
    inputs.append(input)
    keptCount += 1
    guard let keepFolder else { return }
    try FileSystem.write(input, to: keepFolder + "/" + Self.name(of: input))
  }

  /// The name of a file for an input: 16 hexadecimal digits.
  static func name(of input: [UInt8]) -> String {
    let digits = String(FuzzSignal.hash(input), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}
