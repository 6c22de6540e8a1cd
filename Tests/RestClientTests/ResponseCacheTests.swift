import Glibc
import Support
import TestSupport
import Testing

@testable import RestClient

/// Tests the cache's file: limits, concurrent users, damage.
@Suite(.timeLimit(.minutes(60))) struct ResponseCacheTests {
  private let clock = SleepClock()

  private func cache(_ path: String?, diskMB: Double = 20, memoryMB: Double = 2, log: RecordedLog = RecordedLog())
    -> ResponseCache
  {
    var limits = ConnectionSettings.CacheLimits()
    limits.diskMB = diskMB
    limits.memoryMB = memoryMB
    return ResponseCache(path: path, limits: limits, logger: log.logger, now: { clock.now })
  }

  private func key(_ n: Int, account: String = "") -> ResponseCache.Key { .init(url: "https://a.example/\(n)", account: account) }

  private func answer(_ bytes: Int, fill: UInt8 = 0x61) -> CachedResponse {
    CachedResponse(
      status: 200, headers: [("Cache-Control", "max-age=60")], body: [UInt8](repeating: fill, count: bytes),
      requestTime: clock.now,
      responseTime: clock.now)
  }

  private let none = Headers(fields: [])

  @Test func put_beyondTheLimit_leastRecentlyUsedLeaveFirst() async throws {
    let folder = try TemporaryFolder(), cache = cache(folder.path + "/c.sqlite", diskMB: 1)
    for n in 0..<4 {
      await cache.put(answer(200_000), key(n), request: none)
      clock.advance(10)
    }
    _ = await cache.find(key(0), request: none)
    clock.advance(10)
    await cache.put(answer(400_000), key(9), request: none)
    var left: [Int] = []
    for n in [0, 1, 2, 3, 9] { if await cache.find(key(n), request: none) != nil { left.append(n) } }
    #expect(left == [0, 2, 3, 9])
    await cache.close()
  }

  @Test func put_moreThanTheLimit_isNotStoredAndReplacesNothingElse() async throws {
    let folder = try TemporaryFolder(), cache = cache(folder.path + "/c.sqlite", diskMB: 0.5)
    await cache.put(answer(10), key(1), request: none)
    await cache.put(answer(600_000), key(2), request: none)
    #expect(await cache.find(key(1), request: none) != nil)
    #expect(await cache.find(key(2), request: none) == nil)
    await cache.close()
  }

  @Test func file_shrinksBelowItsBound() async throws {
    let folder = try TemporaryFolder(), path = folder.path + "/c.sqlite", cache = cache(path, diskMB: 1)
    for n in 0..<60 {
      await cache.put(answer(100_000), key(n), request: none)
      clock.advance(1)
    }
    await cache.close()
    var info = stat()
    stat(path, &info)
    #expect(info.st_size < 2 * 1024 * 1024)
  }

  @Test func inMemory_worksWithoutAFile() async throws {
    let cache = cache(nil)
    await cache.put(answer(10), key(1), request: none)
    #expect(await cache.find(key(1), request: none)?.response.body.count == 10)
    await cache.close()
    #expect(await cache.find(key(1), request: none) == nil)
  }

  @Test func twoUsers_seeEachOthersAnswers() async throws {
    let folder = try TemporaryFolder(), path = folder.path + "/c.sqlite"
    let a = cache(path), b = cache(path)
    await a.put(answer(10, fill: 1), key(1), request: none)
    #expect(await b.find(key(1), request: none)?.response.body.first == 1)
    await b.put(answer(10, fill: 2), key(1), request: none)
    #expect(await a.find(key(1), request: none)?.response.body.first == 2)
    try b.removeAll()
    #expect(await a.find(key(1), request: none) == nil)
    await a.close()
    await b.close()
  }

  @Test(arguments: ["garbage", "short", "middle"]) func damagedFile_beginsAnewAndIsSaidOnce(how: String) async throws {
    let folder = try TemporaryFolder(), path = folder.path + "/c.sqlite", log = RecordedLog()
    let first = cache(path)
    for n in 0..<50 { await first.put(answer(5000), key(n), request: none) }
    await first.close()
    var bytes = try #require(FileSystem.read(path))
    switch how {
    case "garbage": bytes = Array("this is no database, but it is long enough to be looked at as one".utf8)
    case "short": bytes = Array(bytes.prefix(bytes.count / 2))
    default: for i in 4096..<(bytes.count - 4096) { bytes[i] = 0xA5 }
    }
    try FileSystem.write(bytes, to: path)
    let again = cache(path, log: log)
    for n in 0..<50 { _ = await again.find(key(n), request: none) }
    for n in 0..<3 {
      await again.put(answer(10), key(n), request: none)
      #expect(await again.find(key(n), request: none) != nil)
    }
    await again.close()
    #expect(log.text.split(separator: "\n").count { $0.contains("was damaged") } == 1, "\(log.text)")
  }

  @Test func fileOfAnotherVersion_beginsAnew() async throws {
    let folder = try TemporaryFolder(), path = folder.path + "/c.sqlite"
    let first = cache(path)
    await first.put(answer(10), key(1), request: none)
    await first.close()
    let ended = try ChildProcess.run(["/usr/bin/sqlite3", path, "PRAGMA user_version = 99"])
    #expect(ended.status == 0)
    let again = cache(path)
    #expect(await again.find(key(1), request: none) == nil)
    await again.put(answer(10), key(1), request: none)
    #expect(await again.find(key(1), request: none) != nil)
    await again.close()
  }

  @Test func entryThatCannotBeRead_isAMiss() async throws {
    let folder = try TemporaryFolder(), path = folder.path + "/c.sqlite", cache = cache(path)
    await cache.put(answer(10), key(1), request: none)
    _ = try ChildProcess.run(["/usr/bin/sqlite3", path, "UPDATE http_cache SET headers_json = 'x'"])
    #expect(await cache.find(key(1), request: none) == nil)
    await cache.close()
  }

  @Test func unusablePlace_isSaidOnceAndFailsNothing() async throws {
    let folder = try TemporaryFolder(), log = RecordedLog()
    try FileSystem.write([1], to: folder.path + "/file")
    let cache = cache(folder.path + "/file/cache/c.sqlite", log: log)
    for n in 0..<3 {
      await cache.put(answer(10), key(n), request: none)
      #expect(await cache.find(key(n), request: none) == nil)
    }
    await cache.close()
    #expect(log.text.split(separator: "\n").count { $0.contains("is not usable") } == 1)
  }

  @Test func secrets_areInNoColumn() async throws {
    let folder = try TemporaryFolder(), path = folder.path + "/c.sqlite", cache = cache(path)
    let url = "https://a.example/x?token=CANARY-IN-URL-ZZZZ&a=1"
    let vary = CachedResponse(
      status: 200, headers: [("Vary", "Authorization, Cookie")], body: [], requestTime: 0, responseTime: clock.now)
    let request = Headers(fields: [("Authorization", "CANARY-AUTH"), ("Cookie", "CANARY-COOKIE")])
    let key = ResponseCache.Key(url: url, account: "CANARY-ACCOUNT")
    await cache.put(vary, key, request: request)
    #expect(await cache.find(key, request: request) != nil)
    #expect(await cache.find(.init(url: url, account: "other"), request: request) == nil)
    let dump = try ChildProcess.run(["/usr/bin/sqlite3", path, ".dump"]).output
    #expect(dump.contains("https://a.example/x?token=") && !dump.contains("CANARY"))
    await cache.close()
  }
}
