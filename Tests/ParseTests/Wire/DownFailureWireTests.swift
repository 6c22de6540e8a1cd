import JSON
import SandboxParse
import TestSupport
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Refusals, limits and lost rights while objects come down.
struct DownFailureWireTests {
  private static let path = "/parse/classes/Book"

  private func failure(_ code: Int, status: Int = 400) -> Fault {
    .answer(status: status, body: #"{"code":\#(code),"error":"refused \#(code)"}"#)
  }

  /// Row 24: transient errors are retried, all others stop the run, and nothing is removed.
  @Test(arguments: [
    (1, 500, 3), (2, 400, 5), (4, 400, 5), (100, 429, 5), (124, 400, 5), (251, 400, 5), (101, 404, 1), (102, 400, 1),
    (103, 400, 1),
    (104, 400, 1), (105, 400, 1), (106, 400, 1), (107, 400, 1), (108, 400, 1), (111, 400, 1), (119, 400, 1), (121, 400, 1),
    (140, 400, 1), (141, 400, 1), (142, 400, 1), (155, 400, 1), (159, 400, 1), (206, 400, 1), (252, 400, 1), (9_999, 400, 1),
  ])
  func code_ofAQuery_leadsToItsAction(code: Int, status: Int, tries: Int) async throws {
    try await ParseBench.with { bench async throws in
      try await bench.create("Book", count: 3) { ["n": .integer(Int64($0))] }
      try await bench.down("Book", ["ghosts": "walk"])
      try bench.server.faults.add(failure(code, status: status), path: Self.path)
      bench.forgetRequests()
      let state = try await bench.again()
      #expect(state.status == .failed)
      // Counting may need a permission of its own, so a 119 leads to a second request.
      #expect(bench.requests.count == (code == 119 ? 2 : tries), "code \(code)")
      let wanted = [140, 155].contains(code) ? "quotaExhausted" : code == 206 ? "notAuthenticated" : "httpStatus"
      #expect(state.failure?.code == wanted && state.failure?.message.contains("refused \(code)") == true)
      await #expect(throws: (any Error).self) { try await bench.cleanGhosts() }
      #expect(try bench.ids().count == 3)
    }
  }

  /// Row 24: the request is retried after a proxy's page.
  @Test func htmlPage502_isAskedForAgain() async throws {
    try await ParseBench.with { bench async throws in
      try await bench.create("Book", ["n": 1])
      try bench.server.faults.add(.htmlPage(status: 502), path: Self.path, times: 2)
      #expect(try await bench.down().status == .done)
      #expect(try bench.ids().count == 1)
      #expect(bench.slept.seconds.count == 2)
    }
  }

  /// Row 26.
  @Test func rateLimit_waitsAsLongAsTheServerSays() async throws {
    try await ParseBench.with { bench async throws in
      try await bench.create("Book", ["n": 1])
      try bench.server.faults.add(Fault("tooManyRequests", ["retryAfter": 2]), path: Self.path, times: 1)
      #expect(try await bench.down().status == .done)
      #expect(bench.slept.seconds.reduce(0, +) >= 2)
      #expect(try bench.ids().count == 1)
    }
  }

  /// Row 25.
  @Test func sessionEnded_stopsAllSyncs_keepsEdits_andGoesOnAfterALogin() async throws {
    try await ParseBench.with(soups: ["books", "others"], ["sessionToken": ["env": "TOKEN"]]) { bench async throws in
      let user = try await bench.call(.POST, "/users", ["username": "a", "password": "p"])
      bench.secrets["TOKEN"] = user["sessionToken"]?.stringValue
      let id = try await bench.create("Book", ["n": 1])
      try await bench.down("Book", [:], options: ["mergeMode": "LEAVE_IF_CHANGED"])
      try bench.edit(id, ["n": 2])
      try await bench.call(.PUT, "/users/\(user["objectId"]!.stringValue!)", ["password": "other"])
      bench.forgetRequests()
      let state = try await bench.again()
      #expect(state.status == .failed && state.failure?.code == "notAuthenticated")
      #expect(state.failure?.message.contains("sign in again") == true)
      #expect(bench.requests.count == 1)
      #expect(try await bench.down("Book", [:], soup: "others", name: "other").status == .failed)
      #expect(bench.requests.count == 1, "no sync of the account sends the ended session again")
      #expect(try bench.entry(id)?["n"] == 2)
      let login = try await bench.call(.POST, "/login", ["username": "a", "password": "other"])
      bench.secrets["TOKEN"] = login["sessionToken"]?.stringValue
      #expect(try await bench.again().status == .done)
      #expect(try await bench.again("other").status == .done)
      #expect(try bench.entry(id)?["n"] == 2 && bench.ids("others") == [id])
    }
  }

  // MARK: Ghosts

  /// Row 27.
  @Test(arguments: ["walk", "check"]) func ghosts_goneAndFilteredOutRowsVanish_dirtyOnesStay(mode: String) async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await bench.create("Book", count: 30) { ["n": .integer(Int64($0)), "keep": true] }
      try await bench.down("Book", ["where": ["keep": true], "ghosts": .string(mode)])
      try bench.edit(ids[2], ["n": 100])
      for id in [ids[0], ids[2]] { try await bench.call(.DELETE, "/classes/Book/\(id)") }
      try await bench.call(.PUT, "/classes/Book/\(ids[1])", ["keep": false])
      #expect(try await bench.cleanGhosts() == 2)
      #expect(try bench.ids() == Set(ids.dropFirst(2)))
      #expect(try bench.entry(ids[2])?["n"] == 100)
      #expect(try await bench.cleanGhosts() == 0)
    }
  }

  /// Row 27.
  @Test func ghosts_walkThatFails_removesNothing() async throws {
    var settings = ParseSettings()
    settings.maxLimit = 10
    try await ParseBench.with(settings: settings) { bench async throws in
      let ids = try await bench.create("Book", count: 30) { ["n": .integer(Int64($0))] }
      try await bench.down()
      try await bench.call(.DELETE, "/classes/Book/\(ids[0])")
      try bench.server.faults.add(Fault("lockedClass"), when: .nth(3), path: Self.path)
      await #expect(throws: (any Error).self) { try await bench.cleanGhosts() }
      #expect(try bench.ids().count == 30)
    }
  }

  /// Row 27.
  @Test func ghosts_moreThanHalf_areRefusedUnlessForced() async throws {
    try await ParseBench.with { bench async throws in
      let ids = try await bench.create("Book", count: 21) { ["n": .integer(Int64($0))] }
      try await bench.down()
      for id in ids.dropFirst(10) { try await bench.call(.DELETE, "/classes/Book/\(id)") }
      let error = try await syncError { try await bench.cleanGhosts() }
      #expect(error.code == "tooManyGhosts" && error.message.contains("11 of 21 rows of class 'Book'"))
      #expect(try bench.ids().count == 21)
      #expect(try await bench.cleanGhosts(force: true) == 11)
      #expect(try bench.ids() == Set(ids.prefix(10)))
    }
  }

  /// Row 28.
  @Test(arguments: [(101, 404), (119, 400)]) func hiddenClass_neverRemovesRows(code: Int, status: Int) async throws {
    try await ParseBench.with { bench async throws in
      try await bench.create("Book", count: 3) { ["n": .integer(Int64($0))] }
      try await bench.down()
      try bench.server.faults.add(failure(code, status: status), path: Self.path)
      let state = try await bench.again()
      #expect(state.status == .failed && state.failure?.message.contains("class 'Book' cannot be read") == true)
      await #expect(throws: (any Error).self) { try await bench.cleanGhosts() }
      await #expect(throws: (any Error).self) { try await bench.cleanGhosts(force: true) }
      #expect(try bench.ids().count == 3)
    }
  }
}
