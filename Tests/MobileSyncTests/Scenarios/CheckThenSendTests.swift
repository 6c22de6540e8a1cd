import Foundation
import JSON
import Testing

@testable import MobileSync

/// Another user writes a record while a sync up sends it, in the second of its stamp or later:
/// before the comparison, between comparison and update, or after the update. A change of another
/// field always stays. A change of the same field becomes a conflict or the final value everywhere,
/// unless it was made between the comparison and an update without a condition.
@Suite struct CheckThenSendTests {
  private static let environment = ProcessInfo.processInfo.environment
  /// Enough for each of the moments to occur.
  private static let runs = max(60, environment["TUREEN_SCENARIOS"].flatMap { UInt64($0) } ?? 0)
  private static let seed = environment["TUREEN_SEED"].flatMap { UInt64($0) } ?? 20_260

  @Test(arguments: [ClientScript.Mode.leaveIfChanged, .merge], UploadKind.allCases)
  func syncUp_anotherUserWritesMeanwhile_losesOnlyWhatNoLookCanTell(mode: ClientScript.Mode, kind: UploadKind) async throws {
    let world = try ClientWorld(.twoStores)
    var tally = Tally()
    for n in 0..<Self.runs {
      let walk = CheckThenSend(world, mode, kind, seed: Self.seed &+ n)
      let seen = try await walk.run()
      tally.add(seen)
      let comment = Comment(rawValue: "seed \(Self.seed &+ n): \(seen)")
      #expect(!seen.isOtherFieldLost && !seen.isOwnFieldLost && !seen.isStale, comment)
      #expect(!seen.isOverwritten || seen.isBetween && (kind == .collection || seen.isSameSecond), comment)
    }
    // Each of these was tried; only a collection has a request after the update.
    #expect(tally.before > 0 && tally.between > 0 && (tally.after > 0 || kind != .collection), "\(tally)")
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
