import JSON
import SandboxParse
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Tests records of `_User`, whose passwords end the sessions that send them.
struct UserUploadWireTests {
  private static let lists: JSONObject = [
    "createFieldlist": ["username", "password", "city"], "updateFieldlist": ["username", "password", "city"],
  ]

  /// Signs a user in and stores its record in the soup.
  private func signedIn(_ bench: ParseBench) async throws -> (client: ParseClient, id: String) {
    let client = try ParseClient(bench.connections.connection(named: "default"))
    let user = try await client.signUp(["username": "ada", "password": "one", "city": "a"])
    bench.clock.advance(by: 1)
    try await bench.down("_User")
    return (client, user.objectId)
  }

  @Test func password_goesAloneAndLast_andTheNextCallHasTheNewSession() async throws {
    try await ParseBench.with { bench async throws in
      let (client, id) = try await signedIn(bench)
      try bench.edit(id, ["password": "two", "city": "b"])
      for n in 0..<3 { try bench.make(["objectId": .string("local_\(n)"), "username": .string("u\(n)"), "password": "p"]) }
      bench.forgetRequests()
      let state = try await bench.up("_User", Self.lists, mode: "OVERWRITE")
      #expect(state.status == .done && state.counts.succeeded == 4)
      let writes = bench.requests.filter { $0.method != "GET" }.map { "\($0.method) \($0.path)" }
      #expect(writes == ["POST /parse/batch", "PUT /parse/users/\(id)"])
      let entry = try #require(try bench.entry(id))
      #expect(entry["password"] == nil && entry["sessionToken"] == nil && entry["__local__"] == false)
      bench.forgetRequests()
      #expect(try await client.currentUser()?.objectId == id)
      #expect(bench.requests.count == 1, "the new session is there already")
      // New users do not take over the session.
      #expect(try bench.entries().allSatisfy { $0["password"] == nil && $0["sessionToken"] == nil })
    }
  }

  @Test func password_answerLost_isFoundByALogin() async throws {
    try await ParseBench.with { bench async throws in
      let (client, id) = try await signedIn(bench)
      try bench.edit(id, ["password": "two"])
      try bench.server.faults.add(.dropBeforeResponse(), path: "/parse/users/\(id)", method: "PUT", times: 1)
      bench.forgetRequests()
      let state = try await bench.up("_User", Self.lists, mode: "OVERWRITE")
      #expect(state.status == .done && state.counts.succeeded == 1)
      #expect(bench.requests.count { $0.method == "PUT" } == 1, "it is not sent twice")
      #expect(try bench.entry(id)?["password"] == nil && bench.entry(id)?["__local__"] == false)
      #expect(try await client.currentUser()?.objectId == id)
    }
  }

  @Test func password_requestLost_staysAndGoesWithTheNextRun() async throws {
    try await ParseBench.with { bench async throws in
      let (client, id) = try await signedIn(bench)
      try bench.edit(id, ["password": "two"])
      try bench.server.faults.add(.dropBeforeHandling(), path: "/parse/users/\(id)", method: "PUT", times: 1)
      #expect(try await bench.up("_User", Self.lists, mode: "OVERWRITE").status == .failed)
      #expect(try bench.entry(id)?["password"] == "two" && bench.entry(id)?["__local__"] == true)
      #expect(try await client.currentUser()?.objectId == id, "the session still holds")
      #expect(try await bench.again("up").counts.succeeded == 1)
      try await client.logOut()
      #expect(try await client.logIn("ada", "two").objectId == id)
    }
  }

  @Test func save_answerLost_isFoundByALogin() async throws {
    try await ParseBench.with { bench async throws in
      let (client, id) = try await signedIn(bench)
      var user = try #require(try await client.currentUser())
      user["password"] = "two"
      let note = ParseObject("Note", ["owner": user.pointer.json])
      try bench.server.faults.add(.dropBeforeResponse(), path: "/parse/users/\(id)", method: "PUT", times: 1)
      bench.forgetRequests()
      let results = await client.save([user, note])
      #expect(results.allSatisfy { if case .success = $0 { true } else { false } })
      #expect(
        bench.requests.map { "\($0.method) \($0.path)" }.prefix(2) == ["POST /parse/classes/Note", "PUT /parse/users/\(id)"])
      #expect(try await client.currentUser()?.objectId == id)
    }
  }

  /// The user changes during an upload: changes of one user must not reach the server as another's
  /// or anonymously.
  @Test(arguments: ["out", "other", "same"])
  func user_whoChangesWhileAPushGoesOn_endsIt(change: String) async throws {
    try await ParseBench.with { bench async throws in
      let (client, id) = try await signedIn(bench)
      let session = try #require(try await client.connection.userSession())
      for n in 0..<6 { try bench.make(["objectId": .string("local_\(n)"), "n": .integer(Int64(n))]) }
      let now: UserSession =
        switch change {
        case "out": UserSession(token: nil, userId: id)
        case "other": UserSession(token: session.token, userId: "other")
        default: session
        }
      try bench.server.faults.add(.latency(milliseconds: 1_000, clock: .org), path: "/parse/batch", times: 1)
      async let push = bench.up("Note", ["createFieldlist": ["n"], "updateFieldlist": ["n"], "maxBatchSize": 2])
      await bench.clock.hasSleepers()
      try await client.connection.keep(now)
      bench.clock.advance(by: 2)
      let state = try await push
      let notes = try await bench.objects("Note").count
      if change == "same" {
        #expect(state.status == .done && notes == 6)
      } else {
        #expect(state.status == .failed && state.failure?.code == "notAuthenticated" && notes == 2)
        #expect(try bench.entries().count { $0["__local__"] == true } == 4)
      }
    }
  }
}
