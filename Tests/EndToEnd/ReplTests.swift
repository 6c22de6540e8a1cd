import Foundation
import Glibc
import Testing

/// Tests `tureen repl` on a terminal and with piped statements.
@Suite struct ReplTests {
  // MARK: Piped

  private func pipe(_ text: String, _ place: Workplace? = nil) async throws -> Child.Ended {
    let place = try place ?? Workplace()
    let input = try place.write(text, to: "input.lua")
    return try await Child(Built.tureen, ["repl", "--home", place.home], in: place.path, input: input).ended()
  }

  @Test(arguments: [
    ("1 + 1", "2\n"), ("x = 5\nx * 2, 'text'", "10\n\"text\"\n"), ("for i = 1, 2 do\n  print(i)\nend", "1\n2\n"),
    ("nil", "nil\n"), ("json.decode('[]'), json.decode('{}'), null", "{} (a list)\n{}\nnull\n"),
    ("{ 1, { a = true } }", "{ 1, { a = true } }\n"), ("'\\27[31m\\0'", "\"\\x1B[31m\\x00\"\n"),
    ("{ { Id = 'a', Size = 5 }, { Id = 'bb', Size = 10, Note = 'x' } }", "Id  Size  Note\na      5\nbb    10  x\n"),
    ("r = { { Id = 'a', Size = 5, Note = 'x' } }\nr", "Id  Note  Size\na   x        5\n"),
    ("r = { { Id = 'a', Size = 5, Note = 'x' } }\nr -- Size, Note", "Size  Note  Id\n   5  x     a\n"),
    ("return 7", "7\n"), ("", ""), ("await(smartstore.soupExists, 'c')", "false\n"),
    ("t = {} t.t = t\nt", "{ t = { … again } }\n"),
    ("sleep(1)", "true\n"), ("smartstore.soupExists('c')", "call 1, not awaited\n"), ("print(1)\nexit\nprint(2)", "1\n"),
    ("quit", ""), ("exit = 5\nexit", "5\n"), ("print(1)\nexit()\nprint(2)", "1\n"), (" quit ( ) ", ""),
    (
      "s = { queryType = 'range', orderPath = 'Size' }\nr = { { A = 'a', Size = 5 } }\nr, s",
      "Size  A\n   5  a\n{ orderPath = \"Size\", queryType = \"range\" }\n"
    ),
    (
      "{ { A = 'a', _soupLastModifiedDate = 5 } }",
      "A  _soupLastModifiedDate\na" + String(repeating: " ", count: 22) + "5\n"
    ),
    ("r = { { A = 'a', _soupLastModifiedDate = 5 } }\nr", "A\na\n"),
  ])
  func repl_piped_showsValues(text: String, expected: String) async throws {
    let ended = try await pipe(text)
    #expect(ended.status == 0 && ended.output == expected && ended.errors == "", "\(ended)")
  }

  @Test(arguments: ["help", "?", " help "])
  func repl_help_saysWhatToType(word: String) async throws {
    let ended = try await pipe(word)
    #expect(ended.status == 0 && ended.errors == "" && ended.output.contains("exit or Ctrl-D leaves"), "\(ended)")
    #expect(ended.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
  }

  @Test(arguments: [
    ("error('boom')", "repl:1: boom\n"), ("x = = 1", "unexpected symbol near '='"), ("local function f(", "not complete"),
    ("await(smartstore.clearSoup, 'c')", "Soup: c does not exist (smartstore/noSuchSoup)\n"),
    ("local id = smartstore.clearSoup('c')", "Soup: c does not exist (smartstore/noSuchSoup)\n"),
    ("smartstore.soupExists(1)", "soupExists: argument 1 'soupName' must be a string, got number"),
    ("local id = smartstore.soupExists('c', function() error('late') end)", "repl:1: late"),
    ("await(function() end)", "a task still waits for the function at repl:1, which has not called its callbacks"),
    ("local task = async(function() await(function() end) end)", "a task still waits for the function at repl:1"),
  ])
  func repl_pipedMistake_isShownTheRestRunsAndTheStatusIs1(text: String, expected: String) async throws {
    let ended = try await pipe(text.hasSuffix("(") ? "print('rest')\n" + text : text + "\nprint('rest')")
    #expect(ended.status == 1 && ended.output == "rest\n", "\(ended)")
    #expect(ended.errors.contains(expected), "\(ended.errors)")
  }

  @Test(arguments: [
    ("tureen.main(function() error('boom') end)", "boom", 1), ("tureen.main(function() return nil, 'boom' end)", "boom", 1),
    ("tureen.main(function() error({ code = 'boom' }) end)", "boom", 1),
    ("tureen.main(function() return 3 end)", "exit status 3", 1),
    ("error('boom')\nerror('boom')", "boom", 2),
    ("tureen.main(function() error('boom', 0) end)\nerror('boom', 0)", "boom", 2),
  ])
  func repl_failure_isPrintedOnce(text: String, word: String, count: Int) async throws {
    let ended = try await pipe(text)
    #expect(ended.status == 1 && ended.output == "", "\(ended)")
    #expect(ended.errors.components(separatedBy: word).count == count + 1, "\(ended.errors)")
  }

  @Test func repl_pipedSync_isWaitedForAndItsEventsShown() async throws {
    let ended = try await pipe(
      """
      await(smartstore.registerSoup, "c", { { path = "Id", type = "string" }, { path = "LastName", type = "string" } })
      mobilesync.syncDown({ type = "soql", query = "SELECT Id, LastName FROM Contact" }, "c", {}, "down")
      """)
    #expect(ended.status == 0 && ended.errors == "", "\(ended)")
    #expect(ended.output.hasPrefix("\"c\"\n"))
    #expect(ended.output.contains("[sync] down RUNNING 0 %"), "\(ended)")
    #expect(ended.output.hasSuffix("[sync] down DONE 100 % of 5000\n"), "\(ended)")
  }

  @Test func repl_pipedQuery_showsATableAndThePage() async throws {
    let ended = try await pipe(
      """
      await(smartstore.registerSoup, "c", { { path = "Name", type = "string" } })
      await(smartstore.upsertSoupEntries, "c", { { Name = "Ünal", __local__ = false }, { Name = "Bo", __local__ = false } }) and nil
      await(smartstore.querySoup, "c", smartstore.buildAllQuerySpec("Name", "ascending", 10))
      """)
    #expect(ended.status == 0, "\(ended)")
    let table = "Name  _soupEntryId\nBo               2\nÜnal             1\npage 1 of 1, 2 entries\n"
    #expect(ended.output.hasSuffix(table), "\(ended.output)")
  }

  // MARK: On a terminal

  private func start(_ place: Workplace, columns: UInt16 = 100) throws -> Child {
    try Child(
      Built.tureen, ["repl", "--home", place.home], environment: ["NO_COLOR": "1"], in: place.path,
      terminal: Terminal(columns: columns))
  }

  @Test func repl_terminal_editsRunsAndLeaves() async throws {
    let place = try Workplace()
    let repl = try start(place)
    #expect(await repl.prints("> "))
    repl.type("6 * 8\u{7F}7\r")
    #expect(await repl.prints("42\r\n"))
    repl.type("for i = 1, 2 do\r")
    #expect(await repl.prints("… "))
    repl.type("print('line ' .. i) end\r")
    #expect(await repl.prints("line 2\r\n", then: "> "))
    repl.type("\u{4}")
    #expect(await repl.ended().status == 0)
  }

  /// A narrow terminal shows at least the requested fields; a wider one shows more.
  @Test func repl_terminalThatChangesItsWidth_isFollowed() async throws {
    let place = try Workplace()
    let repl = try start(place, columns: 40)
    #expect(await repl.prints("> "))
    repl.type("t = {{ Alpha = ('a'):rep(15), Beta = ('b'):rep(15), Gamma = ('c'):rep(15) }} print('made')\r")
    #expect(await repl.prints("made\r\n", then: "> "))
    repl.type("t -- Gamma\r")
    #expect(await repl.prints("ccccccccccccccc  aaaaaaaaaaaaaaa\r\n+ 1 fields: Beta\r\n", then: "> "))
    repl.resize(columns: 120)
    repl.type("t -- Beta\r")
    #expect(await repl.prints("bbbbbbbbbbbbbbb  aaaaaaaaaaaaaaa  ccccccccccccccc\r\n", then: "> "))
    repl.type("\u{4}")
    #expect(await repl.ended().status == 0)
  }

  @Test func repl_history_isKeptForItsOwnerAlone() async throws {
    let place = try Workplace()
    let first = try start(place)
    #expect(await first.prints("> "))
    first.type("'one' .. 'more'\r")
    #expect(await first.prints("\"onemore\""))
    first.type(" 'sec' .. 'ret'\r")
    #expect(await first.prints("\"secret\"", then: "> "))
    first.type("\u{4}")
    #expect(await first.ended().status == 0)
    let file = place.home + "/repl_history"
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "'one' .. 'more'\n")
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
    let second = try start(place)
    #expect(await second.prints("> "))
    second.type("\u{1b}[A\r")
    #expect(await second.prints("\"onemore\"", then: "> "))
    second.type("\u{4}")
    #expect(await second.ended().status == 0)
  }

  @Test func repl_tab_completesModulesFunctionsAndSoups() async throws {
    let place = try Workplace()
    let repl = try start(place)
    #expect(await repl.prints("> "))
    repl.type("await(smarts\t.regis\t, 'people_of_note', {{path='Id', type='string'}})\r")
    #expect(await repl.prints("\"people_of_note\""))
    repl.type("type(tureen.forc\t.query\t)")
    #expect(await repl.prints("queryMore"), "both candidates are listed")
    repl.type("\u{3}")
    repl.type("await(smartstore.soupExists, 'peo\t')\r")
    #expect(await repl.prints("true\r\n", then: "> "))
    repl.type("\u{4}")
    #expect(await repl.ended().status == 0)
  }

  @Test func repl_interrupt_clearsTheLineAndEndsWhatRuns() async throws {
    let place = try Workplace()
    let repl = try start(place)
    #expect(await repl.prints("> "))
    repl.type("print('not ' .. 'run'\u{3}")
    #expect(await repl.prints("^C"))
    repl.type("print('loops') while true do pcall(string.rep, 'x', 10) end\r")
    #expect(await repl.prints("loops\r\n"))
    repl.type("\u{3}")
    #expect(await repl.prints("interrupted"))
    repl.type("(function() print('sleeps') return sleep(3600000) end)()\r")
    #expect(await repl.prints("sleeps\r\n"))
    repl.type("\u{3}")
    #expect(await repl.prints("the task was cancelled"))
    repl.type("'al' .. 'ive'\r")
    #expect(await repl.prints("\"alive\"", then: "> "))
    repl.type("\u{4}")
    let ended = await repl.ended()
    #expect(ended.status == 0 && !ended.output.contains("not run"))
  }

  @Test func repl_event_leavesTheTypedLineAlone() async throws {
    let place = try Workplace()
    let org = try PagedOrg(holdsFrom: 2)
    let repl = try Child(
      Built.tureen, ["repl", "--home", place.home], environment: org.environment.merging(["NO_COLOR": "1"]) { $1 },
      in: place.path, terminal: Terminal())
    #expect(await repl.prints("> "))
    repl.type("await(smartstore.registerSoup, 'c', {{path='Id', type='string'}})\r")
    #expect(await repl.prints("\"c\"\r\n"))
    repl.type("mobilesync.syncDown({type='soql', query='SELECT Id, LastModifiedDate FROM Contact'}, 'c', {}, 'down')\r")
    #expect(await repl.prints("RUNNING 20 %"))
    repl.type("'half a ")
    #expect(await repl.prints("'half a "))
    org.open()
    #expect(await repl.prints("[sync] down DONE 100 % of 2000\r\n"))
    repl.type("line'\r")
    #expect(await repl.prints("\"half a line\"\r\n", then: "> "))
    repl.type("\u{4}")
    #expect(await repl.ended().status == 0)
  }
}
