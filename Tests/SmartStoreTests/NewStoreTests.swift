import Foundation
import JSON
import Support
import TestSupport
import Testing

@testable import SmartStore

/// New stores that several processes open at the same moment.
@Suite(.enabled(if: TestEngine.isSQLite, "reads SQLite's files"), .ownThreads)
struct NewStoreTests {
  @Test func open_newStoreFromSeveralProcessesAtOnce_isMadeOnceForAll() throws {
    let home = try TemporaryFolder()
    let processes = try (0..<4).map { _ in try SecondProcess(home: home.path) }
    for process in processes { _ = try process.call("soupExists", ["s"]) }
    for round in 0..<50 {
      for (i, process) in processes.enumerated() {
        let specs: JSONValue = [["path": "k", "type": "string"]]
        try process.send("registerSoup", [.string("s\(i)"), specs], store: "new\(round)")
      }
      for (i, process) in processes.enumerated() { #expect(try process.receive()["value"] == .string("s\(i)"), "round \(round)") }
    }
    for process in processes { process.kill() }
    let folder = home.path + "/global/stores/new7"
    let store = try Store(name: "new7", isGlobal: true, path: folder + "/store.sqlite")
    #expect(try store.soupNames() == ["s0", "s1", "s2", "s3"])
    store.close()
    #expect(try FileSystem.entries(of: folder).filter { !$0.hasPrefix("store.sqlite-") }.sorted() == ["name", "store.sqlite"])
  }
}
