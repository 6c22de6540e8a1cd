import JSON
import RestClient
import Salesforce
import Support
import Synchronization
import TestSupport
import Testing

@testable import Tureen

/// Tests `usage.json`, which the processes of a home share.
@Suite struct OrgUsageTests {
  /// A manual clock, in milliseconds.
  private final class Clock: Sendable {
    let time = Mutex<Int64>(1_800_000_000_000)
    var now: Int64 { time.withLock { $0 } }
    func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
  }

  /// An org's folder that any number of simulated processes share.
  private struct Bench {
    let folder: TemporaryFolder
    let clock = Clock()
    init() throws { folder = try TemporaryFolder() }

    var path: String { folder.path + "/org/usage.json" }

    func process(_ reserve: ApiReserve = .calls(500)) -> OrgUsage {
      OrgUsage(folder: folder.path + "/org", reserve: reserve, now: { [clock] in clock.now })
    }

    func inFile() throws -> JSONValue { try JSONValue(parsing: FileSystem.read(path) ?? []) }
  }

  private func answer(_ used: Int) -> [(name: String, value: String)] { [("sforce-limit-info", "api-usage=\(used)/5000")] }

  @Test func note_tenSecondsApart_isWrittenForOthersToRead() throws {
    let bench = try Bench(), one = bench.process(), other = bench.process()
    #expect(other.latest() == nil)
    one.note(headers: answer(18))
    one.close()
    #expect(other.latest()?.used == 18)
    bench.clock.advance(9_999)
    one.note(headers: answer(19))
    one.close()
    #expect(one.latest()?.used == 19)
    #expect(other.latest()?.used == 18)
    bench.clock.advance(1)
    one.note(headers: answer(20))
    one.close()
    #expect(other.latest()?.used == 20)
    #expect(try bench.inFile() == ["used": 20, "max": 5000, "seenAt": .integer(bench.clock.now)])
  }

  @Test func note_olderThanTheFile_leavesItAlone() throws {
    let bench = try Bench(), one = bench.process(), other = bench.process()
    let start = bench.clock.now
    bench.clock.advance(30_000)
    one.note(headers: answer(100))
    one.close()
    bench.clock.time.withLock { $0 = start }
    other.note(headers: answer(50))
    other.close()
    #expect(try bench.inFile()["used"] == 100)
    #expect(other.latest()?.used == 100)
  }

  @Test(arguments: ["", "{", "[]", #"{"used":5000,"max":5000,"seenAt":9999999999999}"#, "\u{0}\u{1}"])
  func note_fileDamagedOrOfTheFuture_isReplaced(text: String) throws {
    let bench = try Bench(), usage = bench.process()
    try FileSystem.makeDirectory(bench.folder.path + "/org")
    try FileSystem.write(Array(text.utf8), to: bench.path)
    #expect(usage.latest() == nil)
    #expect(usage.refusal(isNew: true) == nil)
    usage.note(headers: answer(1))
    usage.close()
    #expect(try bench.inFile()["used"] == 1)
  }

  @Test func refusal_reachedByAnotherProcess_lastsTenMinutes() throws {
    let bench = try Bench(), one = bench.process(), other = bench.process()
    one.note(headers: answer(4500))
    one.close()
    let refusal = try #require(other.refusal(isNew: true))
    #expect(refusal.code == .requestLimitExceeded && refusal.isLocal && refusal.isRetryable && refusal.outcome == .notSent)
    #expect(refusal.message.contains("used 4500 of its 5000 API calls, and apiReserve keeps 500"))
    #expect(other.refusal(isNew: false) == nil, "a sync that runs has the word of its own answers")
    bench.clock.advance(599_999)
    #expect(other.refusal(isNew: true) != nil)
    bench.clock.advance(1)
    #expect(other.refusal(isNew: true) == nil)
  }

  @Test func refusal_withoutAReserve_isTheOrgsOwn() throws {
    let bench = try Bench(), usage = bench.process(.calls(0))
    usage.note(headers: answer(5000))
    usage.close()
    #expect(usage.refusal(isNew: true) == nil)
  }

  @Test func note_folderThatCannotBeWritten_isKeptInMemory() throws {
    let bench = try Bench(), usage = bench.process()
    try FileSystem.write([], to: bench.folder.path + "/org")
    usage.note(headers: answer(4700))
    usage.close()
    #expect(usage.latest()?.used == 4700)
    #expect(usage.refusal(isNew: false) != nil)
  }
}
