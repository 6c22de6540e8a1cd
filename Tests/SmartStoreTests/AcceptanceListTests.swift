import Foundation
import TestSupport
import Testing

/// Checks the list of what a store must do against the existing tests.
@Suite(.ownThreads) struct AcceptanceListTests {
  @Test func acceptance_everyRow_namesTestsThatExist() throws {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let ended = try ChildProcess.run([package.appendingPathComponent("scripts/dev/acceptance").path, "--quiet"])
    #expect(ended.status == 0, "\(ended.output)")
  }
}
