import JSON
import Support
import TestSupport
import Testing

@testable import RestClient

/// Rows 25 and 26: tests a connection's response cache end to end against a scripted server.
@Suite(.timeLimit(.minutes(60))) struct ConnectionCacheTests {
  private let bed = ConnectionBed()

  /// Serves a body with a tag that stays fresh for a minute, and a 304 for its tag.
  private func tagged(_ extra: [(name: String, value: String)] = [], control: String = "max-age=60") throws -> ScriptedServer {
    try ScriptedServer { request in
      if request.header("If-None-Match") == "\"1\"" {
        return .status(304, headers: [("ETag", "\"1\""), ("Cache-Control", control)])
      }
      return .json(#"{"n":1}"#, headers: [("ETag", "\"1\""), ("Cache-Control", control), ("Link", "<p2>; rel=next")] + extra)
    }
  }

  @Test func cache_byDefault_servesFreshAndValidatesStale() async throws {
    let server = try tagged()
    try await bed.with(server) { connection in
      #expect(try await connection.get("/a", .default).cache == .miss)
      bed.clock.advance(30)
      let hit = try await connection.get("/a", .default)
      #expect(hit.cache == .hit && hit.age == 30 && hit.body.text == #"{"n":1}"# && hit.header("Link") == "<p2>; rel=next")
      bed.clock.advance(40)
      let checked = try await connection.get("/a", .default)
      #expect(checked.cache == .revalidated && checked.body.text == #"{"n":1}"# && checked.header("link") == "<p2>; rel=next")
      bed.clock.advance(59)
      #expect(try await connection.get("/a", .default).cache == .hit)
    }
    #expect(server.requests.map { $0.header("If-None-Match") } == [nil, "\"1\""])
  }

  @Test func cache_modes_sayWhatTheyWant() async throws {
    let server = try tagged()
    try await bed.with(server) { connection in
      _ = try await connection.get("/a", .default)
      #expect(try await connection.get("/a", .revalidate).cache == .revalidated)
      #expect(try await connection.get("/a", .reload).cache == .miss)
      #expect(try await connection.get("/a", .bypass).cache == .bypass)
      #expect(try await connection.get("/a", .offline).cache == .hit)
    }
    #expect(server.requests.map { $0.header("Cache-Control") } == [nil, "no-cache", "max-age=0", "no-store"])
    #expect(server.requests.map { $0.header("If-None-Match") } == [nil, "\"1\"", nil, nil])
  }

  @Test func cache_switchedOff_keepsNothing() async throws {
    let server = try tagged()
    try await bed.with(server, ["cache": false]) { connection in
      for _ in 0..<2 {
        let answer = try await connection.get("/a", .default)
        #expect(answer.cache == .bypass)
      }
    }
    #expect(server.requests.count == 2)
  }

  @Test func cache_anotherAccept_neverGetsAStoredBody() async throws {
    let server = try ScriptedServer { request in
      .text(request.header("Accept") ?? "", headers: [("Vary", "Accept"), ("Cache-Control", "max-age=60")])
    }
    try await bed.with(server) { connection in
      for accept in ["a/a", "b/b", "a/a", "b/b"] {
        let answer = try await connection.get("/x", .default, headers: [("Accept", accept)])
        #expect(answer.body.text == accept)
      }
    }
    #expect(server.requests.count == 2)
  }

  @Test func cache_anotherAccount_neverGetsAStoredBody() async throws {
    let folder = try TemporaryFolder()
    var bed = bed
    bed.home = folder.path
    let server = try ScriptedServer { request in
      .text(request.header("Authorization") ?? "", headers: [("Cache-Control", "max-age=60")])
    }
    for token in ["CANARY-token-a", "CANARY-token-b", "CANARY-token-a"] {
      bed.secrets["T"] = token
      try await bed.with(server, ["auth": ["type": "bearer", "token": ["env": "T"]]]) { connection in
        let answer = try await connection.get("/x?token=CANARY-in-url-xxxx", .default)
        #expect(answer.body.text == "Bearer \(token)")
      }
    }
    #expect(server.requests.count == 2)
    // Only the bodies contain the token, because the server repeats it: no key, variant or URL
    // does.
    let file = try #require(FileSystem.read(ResponseCache.path(home: folder.path, connection: "api")))
    #expect(!String(decoding: file, as: UTF8.self).contains("in-url"))
    #expect(try mode(of: ResponseCache.path(home: folder.path, connection: "api")) == 0o600)
  }

  @Test func cache_noStore_isNeverOnDisk() async throws {
    let folder = try TemporaryFolder()
    var bed = bed
    bed.home = folder.path
    let server = try ScriptedServer(handler: { _ in .json(#"{"x":"CANARY-BODY"}"#, headers: [("Cache-Control", "no-store")]) })
    try await bed.with(server) { connection in
      for _ in 0..<2 { _ = try await connection.get("/a", .default) }
    }
    #expect(server.requests.count == 2)
    for name in try FileSystem.entries(of: folder.path + "/cache") {
      let bytes = try #require(FileSystem.read(folder.path + "/cache/" + name))
      #expect(!String(decoding: bytes, as: UTF8.self).contains("CANARY"))
    }
  }

  @Test func cache_write_dropsItsURLAndWhatTheAnswerNames() async throws {
    let server = try ScriptedServer { request in
      request.method == "GET"
        ? .json("{}", headers: [("Cache-Control", "max-age=600")])
        : .status(201, headers: [("Location", "/b"), ("Content-Location", "/c?x=1")])
    }
    try await bed.with(server) { connection in
      let paths = ["/a", "/b", "/c?x=1", "/d"]
      for path in paths { _ = try await connection.get(path, .default) }
      _ = try await connection.send(RestRequest(.POST, "/a", body: []))
      var results: [CacheResult] = []
      for path in paths { results.append(try await connection.get(path, .default).cache) }
      #expect(results == [.miss, .miss, .miss, .hit])
    }
  }

  @Test func cache_failedWrite_dropsNothing() async throws {
    let server = try ScriptedServer { request in
      request.method == "GET" ? .json("{}", headers: [("Cache-Control", "max-age=600")]) : .status(422)
    }
    try await bed.with(server) { connection in
      _ = try await connection.get("/a", .default)
      _ = try? await connection.send(RestRequest(.POST, "/a", body: []))
      #expect(try await connection.get("/a", .default).cache == .hit)
    }
  }

  @Test func forgetCached_dropsAllPagesOfAList() async throws {
    let server = try ScriptedServer(handler: { _ in .json("[]", headers: [("Cache-Control", "max-age=600")]) })
    try await bed.with(server) { connection in
      let paths = ["/list", "/list?page=2", "/list?page=3", "/list2", "/listing?page=2"]
      for path in paths { _ = try await connection.get(path, .default) }
      await connection.forgetCached(["/list"])
      var results: [CacheResult] = []
      for path in paths { results.append(try await connection.get(path, .default).cache) }
      #expect(results == [.miss, .miss, .miss, .hit, .hit])
    }
  }

  @Test func cache_304OfAnotherTag_dropsAndAsksAgain() async throws {
    let server = try ScriptedServer(
      .json("1", headers: [("ETag", "\"1\"")]), .status(304, headers: [("ETag", "\"2\"")]),
      .json("2", headers: [("ETag", "\"2\"")]))
    try await bed.with(server) { connection in
      _ = try await connection.get("/a", .default)
      let answer = try await connection.get("/a", .default)
      #expect(answer.body.text == "2" && answer.cache == .miss)
    }
    #expect(server.requests.map { $0.header("If-None-Match") } == [nil, "\"1\"", nil])
  }

  @Test func cache_bodyCutShort_isNotStored() async throws {
    let cut = ScriptedAnswer.json(
      #"{"a":"0123456789"}"#, headers: [("Cache-Control", "max-age=600")], delivery: .closeAfter(bytes: 5))
    let server = try ScriptedServer(cut, cut, cut, cut, cut, .json("{}", headers: [("Cache-Control", "max-age=600")]))
    try await bed.with(server) { connection in
      let cut = try await failure { try await connection.get("/a", .default) }
      #expect(cut.code == .noResponse)
      let whole = try await connection.get("/a", .default)
      #expect(whole.cache == .miss)
    }
  }

  // MARK: Offline and stale (row 26)

  @Test func offline_servesStoredAnd504OnAMiss() async throws {
    let server = try tagged()
    try await bed.with(server) { connection in
      _ = try await connection.get("/a", .default)
      bed.clock.advance(1000)
      let stored = try await connection.get("/a", .offline)
      #expect(stored.isStale && stored.age == 1000)
      let missing = try await failure { try await connection.get("/b", .offline) }
      #expect(missing.status == 504 && missing.isRetryable)
      connection.report(isOnline: false)
      #expect(try await connection.get("/a", .default).isStale)
      #expect(try await failure { try await connection.get("/b", .default) }.status == 504)
      connection.report(isOnline: true)
      #expect(try await connection.get("/a", .default).cache == .revalidated)
    }
    #expect(server.requests.count == 2)
  }

  @Test func offline_mustRevalidate_isNeverStale() async throws {
    let server = try tagged(control: "max-age=60, must-revalidate")
    try await bed.with(server) { connection in
      _ = try await connection.get("/a", .default)
      #expect(try await connection.get("/a", .offline).cache == .hit)
      bed.clock.advance(61)
      #expect(try await failure { try await connection.get("/a", .offline) }.status == 504)
    }
  }

  @Test func staleIfError_withinItsTimeOn503_refusedAfter() async throws {
    let server = try ScriptedServer(.json("1", headers: [("Cache-Control", "max-age=60, stale-if-error=100")]))
    server.enqueue(.status(503), .status(503), .status(503), .status(503), .status(503))
    server.enqueue(.status(503), .status(503), .status(503), .status(503), .status(503))
    try await bed.with(server) { connection in
      _ = try await connection.get("/a", .default)
      bed.clock.advance(100)
      let stale = try await connection.get("/a", .default)
      #expect(stale.isStale && stale.body.text == "1")
      bed.clock.advance(60)
      let error = try await failure { try await connection.get("/a", .default) }
      #expect(error.status == 503)
    }
  }

  @Test func staleIfError_noAnswer_servesStoredButNeverToASync() async throws {
    let server = try ScriptedServer(.json("1", headers: [("Cache-Control", "max-age=60, stale-if-error=1000")]))
    let connection = try bed.make(server.url)
    _ = try await connection.get("/a", .default)
    bed.clock.advance(100)
    server.stop()
    #expect(try await connection.get("/a", .default).isStale)
    #expect(try await failure { try await connection.get("/a", .revalidate) }.code == .noResponse)
    await connection.shutdown()
  }

  @Test func staleWhileRevalidate_servesAtOnceAndValidatesBehind() async throws {
    let server = try ScriptedServer(
      .json("1", headers: [("ETag", "\"1\""), ("Cache-Control", "max-age=60, stale-while-revalidate=100")]),
      .json("2", headers: [("ETag", "\"2\""), ("Cache-Control", "max-age=60")]))
    try await bed.with(server) { connection in
      _ = try await connection.get("/a", .default)
      bed.clock.advance(100)
      let stale = try await connection.get("/a", .default)
      #expect(stale.isStale && stale.body.text == "1")
      await server.received(2)
      await connection.backgroundEnded()
      #expect(try await connection.get("/a", .default).body.text == "2")
    }
    #expect(server.requests.count == 2)
  }
}
