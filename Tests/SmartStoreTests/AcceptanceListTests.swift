import Foundation
import Testing

/// The list of what a store must do, against the tests there are.
struct AcceptanceListTests {
  @Test func acceptance_everyRow_namesTestsThatExist() throws {
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let script = Process(), output = Pipe()
    script.executableURL = package.appendingPathComponent("scripts/dev/acceptance")
    script.arguments = ["--quiet"]
    script.standardOutput = output
    script.standardError = output
    try script.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    script.waitUntilExit()
    #expect(script.terminationStatus == 0, "\(text)")
  }
}
