import Foundation
import JSON
import RestClient
import SandboxParse
import TestSupport
import Testing
import Tureen

/// Runs the Lua suites of `Tests/Lua` that need a Parse server, `parse_*`, on real stores and the simulated server over HTTP.
@Suite struct ParseSuiteTests {
  static let suites = ((try? FileManager.default.contentsOfDirectory(atPath: StoreSuiteTests.folder)) ?? [])
    .filter { $0.hasPrefix("parse_") && $0.hasSuffix("_test.lua") }.sorted()

  private func configuration(_ server: ParseServer) -> String {
    """
    tureen.configure { connections = { default = { kind = "parse", serverURL = "\(server.url)/parse",
      applicationId = "\(server.keys.applicationId)", restAPIKey = "\(server.keys.restAPIKey)" } } }
    """
  }

  private func with(_ body: (ParseServer, ScriptRunner) async throws -> Void) async throws {
    var setup = ParseConfiguration()
    setup.isSeeded = false
    let server = try await ParseServer.start(setup), runner = try await ScriptRunner(contacts: 1)
    try await body(server, runner)
    await runner.server.stop()
    await server.stop()
  }

  @Test(arguments: suites)
  func parseSuite_onAPretendServer_passes(suite: String) async throws {
    let folder = StoreSuiteTests.folder
    try await with { server, runner async throws in
      let outcome = try await runner.run(
        "\(configuration(server)) package.path = '\(folder)/?.lua;' .. package.path dofile('\(folder)/\(suite)')")
      #expect(outcome == .done)
    }
  }

  @Test func parseSuites_areFound() { #expect(Self.suites.count >= 4) }

  /// Acceptance row P54: the session belongs to the connection, also in later runs, and only its own file contains the token.
  @Test func logIn_isKeptForLaterRuns_andNoStoreHoldsTheToken() async throws {
    try await with { server, runner async throws in
      let before = configuration(server) + " local parse = tureen.parse"
      let first = try await runner.value(
        of: """
          local User = parse.class("_User", { soup = "users" })
          assert(tureen.await(smartstore.registerSoup, "users", { { path = "objectId", type = "string" } }))
          assert(parse.signUp { username = "ada", password = "one" })
          assert(parse.currentUser():set("password", "two"):save { cacheMode = "server-first" })
          assert(User:query():find { cacheMode = "server-first" })
          local rows = assert(tureen.await(smartstore.querySoup, "users", smartstore.buildAllQuerySpec("objectId", "ascending", 9)))
          local row = rows.currentPageOrderedEntries[1]
          return { row.username, row.sessionToken == nil, row.password == nil }
          """, before: before)
      #expect(first == ["ada", true, true])
      let later = try await runner.value(of: "return parse.currentUser():get 'username'", before: before)
      #expect(later == "ada")
      let file = runner.home + "/connections/default/user.json"
      #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
      let token = try #require(try JSONValue(parsing: Array(Data(contentsOf: URL(filePath: file))))["sessionToken"]?.stringValue)
      for path in try FileManager.default.subpathsOfDirectory(atPath: runner.home) where !path.hasSuffix("user.json") {
        let found = (try? Data(contentsOf: URL(filePath: runner.home + "/" + path)))?.range(of: Data(token.utf8))
        #expect(found == nil, "\(path) holds the session token")
      }
      let gone = try await runner.value(
        of: "assert(parse.logOut()) return parse.currentUser() == tureen.null", before: before)
      #expect(gone == true)
      #expect(try await runner.value(of: "return parse.currentUser() == tureen.null", before: before) == true)
    }
  }

  /// If the session has ended at the server, the call reports it, and a new login succeeds.
  @Test func session_thatEndedElsewhere_isToldAndReplaced() async throws {
    try await with { server, runner async throws in
      let result = try await runner.value(
        of: """
          assert(parse.signUp { username = "ada", password = "one" })
          local other = parse.class("_User").query
          await(function(done) tureen.exec(done, done, "test", "end", {}) end)
          local user, err = parse.currentUser()
          local again = assert(parse.logIn("ada", "one"))
          return { user == nil, err.code, err.parseCode, again:get "username", parse.currentUser():get "username" }
          """, before: configuration(server) + " local parse, await = tureen.parse, tureen.await",
        on: runner.makeHost { settings in
          settings.services["test"] = { name, arguments in
            if name == "end" {
              try server.faults.add(Fault("invalidToken"), path: "/parse/users/me", times: 1)
              return "OK"
            }
            return try runner.makeNote(name, arguments)
          }
        })
      #expect(result == [true, "notAuthenticated", 209, "ada", "ada"])
    }
  }

  /// If another program of the home changes the session, that of the same user is adopted; another user's is never used.
  @Test(arguments: ["password", "other", "out"])
  func session_changedByAnotherProgram_isTakenOverOnlyForTheSameUser(change: String) async throws {
    try await with { server, runner async throws in
      let before = configuration(server) + " local parse, await = tureen.parse, tureen.await"
      let changes = [
        "password": "assert(parse.currentUser():set('password', 'two'):save())",
        "other": "assert(parse.logOut()) assert(parse.signUp { username = 'eve', password = 'one' })",
        "out": "assert(parse.logOut())",
      ]
      let result = try await runner.value(
        of: """
          assert(parse.signUp { username = "ada", password = "one" })
          await(function(done) tureen.exec(done, done, "test", "change", {}) end)
          local saved, err = parse.class "Note" { text = "as ada" }:save()
          return { saved and "saved" or err.code, parse.count "Note" }
          """, before: before,
        on: runner.makeHost { settings in
          settings.services["test"] = { name, arguments in
            guard name == "change" else { return try runner.makeNote(name, arguments) }
            let done = DispatchSemaphore(value: 0)
            Task {
              _ = try await runner.run("\(before) tureen.async(function() \(changes[change] ?? "") end) assert(tureen.run())")
              done.signal()
            }
            done.wait()
            return "OK"
          }
        })
      #expect(result == (change == "password" ? ["saved", 1] : ["notAuthenticated", 0]))
    }
  }

  @Test func restrictedScript_signsNobodyInOrOut() async throws {
    try await with { server, runner async throws in
      let connection = try ConnectionSettings(
        name: "default",
        json: [
          "kind": "parse", "serverURL": .string(server.url + "/parse"),
          "applicationId": .string(server.keys.applicationId), "restAPIKey": .string(server.keys.restAPIKey),
        ], from: ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: true))
      let result = try await runner.value(
        of: """
          local codes = {}
          local function note(value, err) codes[#codes + 1] = value == nil and err.code or "success" end
          note(parse.signUp { username = "ada", password = "one" })
          note(parse.logIn("ada", "one"))
          note(parse.logOut())
          note(parse.count "Book")
          return codes
          """, before: "local parse = tureen.parse",
        on: runner.makeHost { settings in
          settings.isRestricted = true
          settings.allowedHosts = [String(server.url.dropFirst("http://".count))]
          settings.connections = [connection]
        })
      #expect(result == ["restricted", "restricted", "restricted", "success"])
    }
  }
}
