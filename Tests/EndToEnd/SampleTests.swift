import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// Tests the scripts in `scripts/` as users run them.
@Suite struct SampleTests {
  private func path(_ name: String) -> String { Built.package.path + "/scripts/" + name }

  private func run(_ place: Workplace, _ name: String, _ arguments: String..., environment: [String: String] = [:]) async throws
    -> Child.Ended
  {
    try await place.run(
      Built.tureen, ["run", "--quiet", "--home", place.home, path(name)] + arguments, environment: environment)
  }

  /// Returns the lines without their leading times.
  private func lines(_ ended: Child.Ended) -> [String] {
    ended.output.split(separator: "\n").map { $0.drop { $0 != " " }.trimmingCharacters(in: .whitespaces) }
  }

  @Test func nightly_newHomeThenAgain_is0() async throws {
    let place = try Workplace()
    let first = try await run(place, "nightly.lua", "--ghosts")
    #expect(first.status == 0, "\(first)")
    #expect(
      lines(first) == [
        "contactsUp     DONE    up=0 failed=0 conflicting=0", "contactsDown   DONE    total=5000",
        "contactsDown   CLEAN   removed=0",
      ])
    let second = try await run(place, "nightly.lua", "contactsDown")
    #expect(second.status == 0 && lines(second).first?.hasPrefix("contactsDown   DONE") == true, "\(second)")
  }

  @Test func nightly_logFormatJSON_printsObjects() async throws {
    let place = try Workplace()
    let ended = try await run(place, "nightly.lua", environment: ["TUREEN_LOG_FORMAT": "json"])
    let lines = try ended.output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(ended.status == 0 && lines.map { $0["sync"] } == ["contactsUp", "contactsDown"], "\(ended)")
    #expect(lines.last?["message"] == "DONE" && lines.last?["total"] == 5000 && lines.last?["level"] == "info", "\(ended)")
    let failed = try await run(
      place, "nightly.lua", "contactsDown", environment: ["TUREEN_LOG_FORMAT": "json", "TUREEN_ORG": "nowhere"])
    #expect(failed.status != 0, "\(failed)")
  }

  @Test func nightly_recordRefused_is2() async throws {
    let place = try Workplace()
    #expect(try await run(place, "nightly.lua", "contactsDown").status == 0)
    let edit = try place.write(
      """
      local tureen = require "tureen"
      tureen.smartstore.upsertSoupEntries("contacts", { { Id = "local_1", attributes = { type = "Contact" }, FirstName = "No last name",
        __local__ = true, __locally_created__ = true, __locally_updated__ = false, __locally_deleted__ = false } }, print, error)
      """, to: "edit.lua")
    #expect(try await place.runScript(edit).status == 0)
    let ended = try await run(place, "nightly.lua", "contactsUp")
    #expect(ended.status == 2 && lines(ended) == ["contactsUp     DONE    up=0 failed=1 conflicting=0"], "\(ended)")
  }

  @Test func nightly_orgBusy_is75() async throws {
    let place = try Workplace()
    let busy = try ScriptedServer(handler: { _ in .restError(503, "BUSY", "later", headers: [("Retry-After", "3600")]) })
    let environment = [
      "TUREEN_ORG": busy.url, "TUREEN_CLIENT_ID": "c", "TUREEN_CLIENT_SECRET": "s", "TUREEN_USERNAME": "u",
      "TUREEN_PASSWORD": "p",
    ]
    let ended = try await run(place, "nightly.lua", environment: environment)
    #expect(ended.status == 75 && lines(ended).contains { $0.contains("FAILED  error=") }, "\(ended)")
  }

  @Test func nightly_unknownSync_is1AndNamesIt() async throws {
    let ended = try await run(Workplace(), "nightly.lua", "weekly")
    #expect(ended.status == 1 && ended.errors.contains("no sync named 'weekly'"), "\(ended)")
  }

  @Test func customTarget_syncsWithItsFile() async throws {
    let place = try Workplace()
    let ended = try await run(place, "custom_target.lua", place.path + "/tasks.jsonl")
    #expect(ended.status == 0, "\(ended)")
    #expect(
      ended.output == """
        down   3 tasks
        up     3 sent, 1 refused
        file   T1 [x] Call Ada
        file   T2 [ ] Ship it
        file   T4 [ ] Write home
        ghosts 1 removed

        """)
    let file = try String(contentsOfFile: place.path + "/tasks.jsonl", encoding: .utf8)
    #expect(file.split(separator: "\n").count == 2)
  }

  @Test func liveQuery_showsEachNewResultOnce() async throws {
    let place = try Workplace()
    let first = try await run(place, "live_query.lua")
    #expect(first.status == 0, "\(first)")
    let shown = first.output.split(separator: "\n").filter { $0.hasPrefix("list") }
    #expect(shown.count == 4 && shown.first == "list     empty" && shown[1] == shown[3], "\(first.output)")
    let second = try await run(place, "live_query.lua")
    #expect(second.status == 0, "\(second)")
    let again = second.output.split(separator: "\n").filter { $0.hasPrefix("list") }
    #expect(again.count == 3 && again.first == again.last && again.first == shown.last, "\(second.output)")
  }

  @Test func files_goUpAndComeBackAsTheyWere() async throws {
    let place = try Workplace()
    let file = try place.write("Ünïcode\u{0}\u{1}and a null byte\r\n", to: "note.txt")
    let ended = try await run(place, "files.lua", file)
    #expect(ended.status == 0, "\(ended)")
    #expect(ended.output.contains("downloaded both versions, byte for byte\n"), "\(ended)")
    #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("Ünïcode"))
  }

  // MARK: repositories.lua (acceptance row R33)

  /// Returns the names in a printed list, in order.
  private func names(_ output: String) -> [String] {
    output.split(separator: "\n").compactMap { line in
      line.firstRange(of: ") orchard/").map { String(line[$0.upperBound...]) }
    }
  }

  @Test func repositories_listNextPageRefreshAndOffline() async throws {
    let place = try Workplace()
    let first = try await run(place, "repositories.lua", "n", "r")
    #expect(first.status == 0 && first.complaints.isEmpty, "\(first)")
    let listed = names(first.output)
    // The first ten, ten more at the end of the list, and the first ten again.
    #expect(listed.count == 30 && Set(listed).count == 20 && Array(listed[20...]) == Array(listed[..<10]))
    #expect(first.output.contains("\n  11  ("))
    #expect(first.output.contains("10 repositories of orchard, and more with n\n"))
    #expect(first.output.contains("      No Language, ") && first.output.contains(" forks, "))
    #expect(first.output.contains(".png) orchard/") && !first.output.contains("(no picture)"))
    let offline = try await place.run(
      Built.tureen, ["run", "--offline", "--quiet", "--home", place.home, path("repositories.lua"), "n", "n"])
    #expect(offline.status == 0 && names(offline.output) == Array(listed[..<20]), "\(offline)")
    #expect(offline.output.hasPrefix("not loaded: connection 'forge': no response is stored for "))
    #expect(offline.output.contains(".png) orchard/") && offline.output.hasSuffix("20 repositories of orchard\n"))
    let cleared = try await place.run(Built.tureen, ["cache", "clear", "--connection", "Forge", "--home", place.home])
    #expect(cleared.status == 0 && cleared.output.hasSuffix(" and 1 file removed\n"), "\(cleared)")
    let without = try await place.run(
      Built.tureen, ["run", "--offline", "--quiet", "--home", place.home, path("repositories.lua")])
    #expect(names(without.output).count == 10 && !without.output.contains(".png"), "\(without)")
    #expect(without.output.contains("(no picture) orchard/"))
  }

  @Test func repositories_serverRefuses_saysWhyAndKeepsTheRows() async throws {
    let place = try Workplace()
    let fault = #"answer status=451 body={"message":"blocked-here"} path=/api/v3/orgs/orchard/repos nth=2"#
    let sandbox = try await Sandbox(place, options: ["--contacts", "1", "--accounts", "1", "--fault", fault])
    let ended = try await run(place, "repositories.lua", "n")
    #expect(ended.status == 0 && names(ended.output).count == 10, "\(ended)")
    #expect(ended.output.contains("\nnot loaded: ") && ended.output.contains("blocked-here"))
    #expect(ended.output.hasSuffix("10 repositories of orchard, and more with n\n"))
    sandbox.child.send(SIGINT)
    _ = await sandbox.child.ended()
  }

  @Test func repositories_onATerminal_asksForKeys() async throws {
    let place = try Workplace()
    let child = try Child(
      Built.tureen, ["run", "--home", place.home, path("repositories.lua")], in: place.path, terminal: Terminal())
    #expect(await child.prints("q quit: "), "\(child.printed)")
    child.type("n\n")
    #expect(await child.prints("20 repositories of orchard, and more with n", then: "q quit: "), "\(child.printed)")
    child.type("q\n")
    #expect(await child.ended().status == 0)
  }

  @Test func repositories_wrongWords_areRefused() async throws {
    let ended = try await run(Workplace(), "repositories.lua", "next")
    #expect(ended.status == 1 && ended.errors.contains("'next' is not an option: use --org NAME, n, r and q"), "\(ended)")
  }

  // MARK: library.lua

  private static let shown = """
    Books: 1
      The Sea of Lists, ISBN 9783161484100, Adventure Essays
    The Sea of Lists
      Authors: Abel Almeida, Abel Ansah
      Publishers: Aalborg & Sons
      Among the books of the genre Adventure Essays

    """

  /// Covers names with a uniqueness check, a refused book, a book with ISBN and relations, and reading all of it offline.
  @Test func library_tutorial_isSavedSentShownAndReadOffline() async throws {
    let place = try Workplace()
    let ended = try await run(place, "library.lua")
    #expect(ended.status == 0 && ended.complaints.isEmpty, "\(ended)")
    #expect(ended.output.hasPrefix("40 genres, 300 publishers, 2000 authors\nGenre 'Lighthouse stories' is added\n"), "\(ended)")
    #expect(
      ended.output.contains("\nGenre 'Adventure Essays' is not added: class Genre has an object with the same 'name' already"))
    #expect(ended.output.contains("\nA book that is not valid: title: missing; isbn: 13 digits"))
    let saved = try #require(ended.output.firstRange(of: "'The Sea of Lists' is saved here\n"))
    #expect(ended.output[saved.upperBound...].hasPrefix("'The Sea of Lists' is on the server\n" + Self.shown))
    #expect(ended.output.hasSuffix("  Authors again: Abel Almeida, Abel Ansah\n"))
    let offline = try await run(place, "library.lua", "offline")
    #expect(offline.status == 0 && offline.output == Self.shown, "\(offline)")
  }

  /// Creates genres, publishers and authors before books; a second run finds that their names exist.
  @Test func library_withoutAnything_isSeededFirst() async throws {
    let place = try Workplace(), sandbox = try await Sandbox(place, options: ["--contacts", "1", "--accounts", "1"])
    let emptied = try await place.run(
      "/usr/bin/curl",
      ["-sS", "-d", "{}", "-H", "Authorization: Bearer \(sandbox.controlToken)", sandbox.url + "/__sandbox/reset"])
    #expect(emptied.output.contains("OK"), "\(emptied)")
    let key = sandbox.child.printed.split(separator: "\n").first { $0.hasPrefix("  REST API key") }?.split(separator: " ").last
    let arguments = ["--server", sandbox.url + "/parse", "--app", "library"]
    let command = ["run", "--quiet", "--home", place.path + "/home", path("library.lua")] + arguments
    let environment = ["PARSE_REST_KEY": String(key ?? "")]
    let ended = try await place.run(Built.tureen, command, environment: environment)
    #expect(ended.status == 0, "\(ended)")
    #expect(ended.output.hasPrefix("0 genres, 0 publishers, 0 authors\nGenre 'Fantasy' is added\n"), "\(ended)")
    #expect(
      ended.output.contains("\nAuthor 'Ada Quill' is added\n") && ended.output.contains("\n  Authors: Ada Quill, Ben Marlow\n"))
    let again = try await place.run(
      Built.tureen, command + ["--title", "Another", "--isbn", "9783161484117"], environment: environment)
    #expect(again.output.hasPrefix("3 genres, 2 publishers, 3 authors\nGenre 'Fantasy' is not added: "), "\(again)")
  }

  @Test func library_bookThatIsNotValid_isNotSaved() async throws {
    let ended = try await run(Workplace(), "library.lua", "--isbn", "12", "--year", "x", "--genre", "None")
    #expect(ended.status == 1, "\(ended)")
    let problem = "isbn: 13 digits, without dashes; year: a number from 1450 to 2100; genre: no genre of that name"
    #expect(ended.output.hasSuffix("The book is not saved: \(problem)\n"), "\(ended)")
  }

  @Test func library_serverThatIsAway_keepsWhatIsHere() async throws {
    let place = try Workplace()
    #expect(try await run(place, "library.lua").status == 0)
    let away = try await run(
      place, "library.lua", "--server", "http://127.0.0.1:9/parse", "--app", "library", "--title", "Lost", "--isbn",
      "9783161484124",
      environment: ["PARSE_REST_KEY": "k"])
    #expect(away.status == 0, "\(away)")
    #expect(away.output.contains("genres: not loaded: "), "\(away)")
    #expect(away.output.contains("\n'Lost' stays in the store until the server answers: "), "\(away)")
    #expect(away.output.contains("\n  Lost, ISBN 9783161484124, Adventure Essays\n"), "\(away)")
  }

  @Test func library_wrongWord_isRefused() async throws {
    let ended = try await run(Workplace(), "library.lua", "list")
    #expect(ended.status == 1 && ended.errors.contains("'list' is not an option: use offline, --server"), "\(ended)")
  }
}
