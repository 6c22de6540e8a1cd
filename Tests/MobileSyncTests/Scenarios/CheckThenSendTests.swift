import TestSupport
import Testing

@testable import MobileSync

/// Another user writes a record while a sync up sends it, in the second of its stamp or later:
/// before the comparison, between comparison and update, or after the update. A change of another
/// field always stays. A change of the same field becomes a conflict or the final value everywhere,
/// unless it was made between the comparison and an update without a condition.
@Suite struct CheckThenSendTests {
  /// Each moment is drawn in one run of four: with 60 runs all of them occur with every seed.
  private static let runs = max(60, RandomSeed.count("SCENARIOS", usual: 0))

  @Test(arguments: [ClientScript.Mode.leaveIfChanged, .merge], UploadKind.allCases)
  func syncUp_anotherUserWritesMeanwhile_losesOnlyWhatNoLookCanTell(mode: ClientScript.Mode, kind: UploadKind) async throws {
    let world = try ClientWorld(.twoStores)
    var tally = Tally()
    for n in 0..<Self.runs {
      let seed = RandomSeed.value &+ UInt64(n), again = RandomSeed.again(Self.self, seed: seed)
      let seen = try await RandomSeed.walk(again) { try await CheckThenSend(world, mode, kind, seed: seed).run() }
      tally.add(seen)
      let comment = Comment(rawValue: "\(again): \(seen)")
      #expect(!seen.isOtherFieldLost && !seen.isOwnFieldLost && !seen.isStale, comment)
      #expect(!seen.isOverwritten || seen.isBetween && (kind == .collection || seen.isSameSecond), comment)
    }
    // Each of these was tried; only a collection has a request after the update.
    #expect(
      tally.before > 0 && tally.between > 0 && (tally.after > 0 || kind != .collection),
      "\(RandomSeed.again(Self.self)): \(tally)")
    await world.close()
  }

  private struct Tally {
    var before = 0, between = 0, after = 0, overwritten = 0

    mutating func add(_ seen: CheckThenSend.Seen) {
      guard let request = seen.request else { return }
      before += request == 1 ? 1 : 0
      between += request == 2 ? 1 : 0
      after += request > 2 ? 1 : 0
      overwritten += seen.isOverwritten ? 1 : 0
    }
  }
}
