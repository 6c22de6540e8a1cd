import JSON
import Support
import Synchronization
import TestSupport
import Testing

@testable import SmartStore

/// The history that a store keeps of the writes of programs, on the engine of the test run.
@Suite struct HistoryTests {
  private let test: TemporaryStore
  private var store: Store { test.store }

  init() throws {
    test = try TemporaryStore(soup: "notes", [.string("Id"), IndexSpec(path: "__local__", type: .string)])
  }

  private func keep(_ level: HistoryLevel = .all, _ store: Store? = nil) {
    (store ?? self.store).keepHistory(level, of: HistoryActor(.script, name: "notes.lua", host: "here", uid: 7, version: "1"))
  }

  /// `cause entry version fields reason`, a line each.
  private func log(_ store: Store? = nil) throws -> [String] {
    try (store ?? self.store).readBlocking { snapshot in
      try snapshot.history(HistoryQuery(.log)).map { row in
        [
          row.texts[0] ?? "", "\(row.integers[4] ?? 0)", "v\(row.integers[5] ?? 0)",
          HistoryText.list(row.texts[2])?.joined(separator: ",") ?? "-", row.texts[1] ?? "-",
        ].joined(separator: " ")
      }
    }
  }

  private func count(_ table: HistoryTable) throws -> Int { try store.readBlocking { try $0.history(HistoryQuery(table)).count } }

  // MARK: Writes of programs

  @Test func edits_ofAProgram_areLoggedWithTheirFields() throws {
    keep()
    try store.upsert(#"[{"Id":"a","n":1,"__local__":true,"__locally_created__":true},{"Id":"clean"}]"#, into: "notes")
    try store.upsert(
      #"[{"_soupEntryId":1,"Id":"a","n":2,"m":[1,{"x":2}],"__local__":true,"__locally_created__":true}]"#, into: "notes")
    try store.upsert(
      #"[{"_soupEntryId":2,"Id":"clean","t":"é","__local__":true,"__locally_updated__":true}]"#, into: "notes")
    try store.upsert(
      #"[{"_soupEntryId":2,"Id":"clean","t":"é","__local__":true,"__locally_updated__":true,"__locally_deleted__":true}]"#,
      into: "notes")
    try store.upsert(#"[{"_soupEntryId":2,"Id":"clean","__local__":false}]"#, into: "notes")
    try store.remove([1, 99], from: "notes")
    #expect(
      try log() == [
        "created 1 v1 - -", "updated 1 v2 n,m -", "updated 2 v2 t -", "deleted 2 v3  -", "removed 1 v2 - script",
      ])
    let rows = try store.readBlocking { try $0.history(HistoryQuery(.log)) }
    #expect(rows.last?.texts[3] == "a" && rows.allSatisfy { $0.integers[1] == nil && $0.texts[4] == nil && $0.texts[5] == nil })
    let actors = try store.readBlocking { try $0.history(HistoryQuery(.actors)) }.compactMap(HistoryActor.init)
    #expect(actors == [HistoryActor(.script, name: "notes.lua", host: "here", uid: 7, version: "1")])
  }

  @Test func edits_withoutHistory_writeNothing() throws {
    keep(.off)
    try store.upsert(#"[{"Id":"a","__local__":true}]"#, into: "notes")
    try store.remove([1], from: "notes")
    for table in HistoryTable.allCases { #expect(try count(table) == 0) }
  }

  @Test func patches_ofAProgram_areLogged() throws {
    keep()
    try store.upsert(#"[{"Id":"a","n":1}]"#, into: "notes")
    _ = try store.patch([EntryPatch(.entryId(1), set: ["n": 2], flags: ["__locally_updated__": true])], in: "notes")
    #expect(try log() == ["updated 1 v2 n -"])
  }

  /// A transaction that fails leaves nothing, in the history neither.
  @Test func failedCall_leavesNoRow() throws {
    keep()
    #expect(throws: StoreError.self) {
      try store.upsert(#"[{"Id":"a","__local__":true},{"_soupEntryId":9,"__local__":true}]"#, into: "notes")
    }
    #expect(try log() == [])
    try store.upsert(#"[{"Id":"a","__local__":true}]"#, into: "notes")
    #expect(try log() == ["created 1 v1 - -"] && count(.actors) == 1)
  }

  @Test func programs_ofOneStore_haveARowEach() throws {
    keep()
    try store.upsert(#"[{"Id":"a","__local__":true}]"#, into: "notes")
    store.keepHistory(.all, of: HistoryActor(.repl))
    try store.upsert(#"[{"Id":"b","__local__":true}]"#, into: "notes")
    keep()
    try store.upsert(#"[{"Id":"c","__local__":true}]"#, into: "notes")
    let names = try store.readBlocking { snapshot in
      let actors = Dictionary(uniqueKeysWithValues: try snapshot.history(HistoryQuery(.actors)).map { ($0.id, HistoryActor($0)) })
      return try snapshot.history(HistoryQuery(.log)).map { actors[$0.integers[2] ?? 0]??.kind }
    }
    #expect(names == [.script, .repl, .script])
  }

  // MARK: Runs

  private func run(_ number: Int64, name: String? = "s", status: String = "DONE", at: Int64 = 1) -> HistoryRun {
    var run = HistoryRun(1, name: name, .syncDown, pid: 5, job: nil, startedAt: at)
    (run.number, run.status, run.endedAt, run.state) = (number, status, at, "{}")
    return run
  }

  /// Adds a run with its end in one transaction.
  @discardableResult
  private func addRun(events: Int = 0, name: String? = "s", status: String = "DONE", at: Int64? = nil) throws -> Int64 {
    let now = SystemClock.millisecondsSince1970()
    return try store.writeBlocking(.pulled) { transaction in
      let rows = try #require(transaction.history)
      let number = try #require(
        rows.begin(HistoryRun(1, name: name, .syncDown, pid: 5, job: nil, startedAt: at ?? now)))
      for _ in 0..<events { rows.add(HistoryEvent(.request, at: now)) }
      rows.end(run(number, name: name, status: status, at: at ?? now))
      return number
    }
  }

  @Test func runs_areNumbered_alsoByOtherProcesses() throws {
    keep()
    let other = try test.another()
    defer { other.close() }
    keep(.all, other)
    #expect(try addRun() == 1)
    try other.writeBlocking(.pulled) {
      _ = $0.history?.begin(HistoryRun(1, name: nil, .ghosts, pid: 1, job: "3/4", startedAt: 2))
    }
    #expect(try addRun() == 3)
    let runs = try store.readBlocking { try $0.history(HistoryQuery(.runs)) }.compactMap(HistoryRun.init)
    #expect(runs.map(\.status) == ["DONE", "RUNNING", "DONE"] && runs[1].job == "3/4" && runs[1].kind == .ghosts)
  }

  @Test func abandonedRuns_areClosed_withoutTheOwnOne() throws {
    keep()
    try store.writeBlocking(.pulled) {
      _ = $0.history?.begin(HistoryRun(1, name: "s", .syncDown, pid: 1, job: nil, startedAt: 2))
    }
    try store.writeBlocking(.pulled) { transaction in
      transaction.history?.abandon(sync: 1)
      _ = transaction.history?.begin(HistoryRun(1, name: "s", .syncDown, pid: 1, job: nil, startedAt: 3))
    }
    let runs = try store.readBlocking { try $0.history(HistoryQuery(.runs)) }.compactMap(HistoryRun.init)
    #expect(runs.map(\.status) == ["ABANDONED", "RUNNING"] && runs[0].endedAt != nil)
  }

  /// Row 15: 1,200 runs, with old ones, and named ones that must stay.
  @Test func row15_runs_arePrunedToTheirLimits() throws {
    keep()
    try addRun(name: "rare", status: "FAILED")
    try addRun(name: "rare")
    for _ in 0..<1198 { try addRun(events: 2) }
    let runs = try store.readBlocking { try $0.history(HistoryQuery(.runs)) }.compactMap(HistoryRun.init)
    #expect(runs.filter { $0.name == "rare" }.map(\.number) == [1, 2])
    #expect(runs.count <= Int(HistoryLimits.runs) + 2 && runs.last?.number == 1200, "\(runs.count)")
    let events = try store.readBlocking { try $0.history(HistoryQuery(.events)) }
    #expect(events.count == 2 * Int(HistoryLimits.runsWithEvents), "\(events.count)")
  }

  @Test func row15_oldRuns_leaveButTheLastTen() throws {
    keep()
    for _ in 0..<32 { try addRun(name: nil, at: 1) }
    let runs = try store.readBlocking { try $0.history(HistoryQuery(.runs)) }
    #expect(runs.count == 10 && runs.first?.id == 23, "\(runs.map(\.id))")
  }

  /// Row 15: no transaction removes more than 500 rows of a table.
  @Test func row15_events_leaveInSmallSteps() throws {
    keep()
    try addRun(events: 21_000)
    var counts: [Int] = []
    for _ in 0..<4 {
      try addRun()
      counts.append(try count(.events))
    }
    #expect(counts == [20_000, 20_000, 20_000, 20_000], "the long run itself has removed 500")
  }

  /// Adds rows to the log in one transaction.
  private func note(_ count: Int, bytes: Int = 0) throws {
    try store.writeBlocking(.pulled) { transaction in
      let text = bytes > 0 ? Array(repeating: UInt8(ascii: "x"), count: bytes) : nil
      for i in 0..<count {
        try transaction.note(EntryChange(.uploaded, Int64(i), version: 1, before: text, sent: text), in: "notes")
      }
    }
  }

  @Test func row15_log_isPrunedAlsoWithoutRuns() throws {
    keep()
    try note(50_100)
    try note(500)
    #expect(try count(.log) == 50_000, "100 of the first call, and those of the second")
    try note(500)
    #expect(try count(.log) == 50_000)
  }

  /// 80 MB of values, in fewer rows than the limit.
  @Test func row15_values_arePrunedByTheirSize() throws {
    keep()
    for _ in 0..<4 { try note(50, bytes: 100_000) }
    for _ in 0..<20 { try note(1, bytes: 1_000_000) }
    let size = try store.readBlocking { try $0.history(HistoryQuery(.log)) }
      .reduce(0) { $0 + ($1.texts[4]?.utf8.count ?? 0) + ($1.texts[5]?.utf8.count ?? 0) }
    #expect(size <= HistoryLimits.logBytes + 2 * HistoryLimits.checkedBytes && size > HistoryLimits.logBytes / 2, "\(size)")
  }

  // MARK: Values

  @Test func names_keepNoValuesAndNoTextsOfServers() throws {
    for (level, sent, reason) in [(HistoryLevel.all, #"{"n":"canary"}"#, "BAD_VALUE: canary"), (.names, nil, "BAD_VALUE")] {
      keep(level)
      try store.writeBlocking(.pulled) { transaction in
        try transaction.note(
          EntryChange(
            .refused, 1, version: 1, reason: "BAD_VALUE: canary", fields: ["n"], before: Array("{}".utf8),
            sent: Array(#"{"n":"canary"}"#.utf8)), in: "notes")
      }
      let row = try #require(try store.readBlocking { try $0.history(HistoryQuery(.log, newestFirst: true, limit: 1)) }.first)
      #expect(row.texts[5] == sent && row.texts[1] == reason && row.texts[2] == #"["n"]"#, "\(row)")
    }
  }

  @Test func forgottenEntries_loseTheirValuesAlone() throws {
    keep()
    try store.writeBlocking(.pulled) { transaction in
      for id in 1...2 {
        try transaction.note(
          EntryChange(.uploaded, Int64(id), version: 1, fields: ["n"], before: Array("{}".utf8), sent: Array("{}".utf8)),
          in: "notes")
      }
      try transaction.forgetValues(of: [1], in: "notes")
    }
    let rows = try store.readBlocking { try $0.history(HistoryQuery(.log)) }
    #expect(rows.map { $0.texts[5] } == [nil, "{}"] && rows.allSatisfy { $0.texts[2] == #"["n"]"# })
  }

  @Test func serverText_isCut() {
    let cut = HistoryText.cut(String(repeating: "é", count: 1000))
    #expect(cut.utf8.count <= 300 && cut.hasSuffix("é…"))
    #expect(
      HistoryText.cut("short") == "short" && HistoryText.code(of: "A_B: c") == "A_B" && HistoryText.code(of: "no: c") == nil)
  }

  // MARK: Failures

  /// Row 16: the write goes on, and one line says why the history does not.
  @Test(.enabled(if: TestEngine.isSQLite, "drops a table of the file")) func row16_droppedTable_failsNoWrite() throws {
    let lines = Mutex<[String]>([])
    store.keepHistory(.all, of: HistoryActor(.host)) { text in lines.withLock { $0.append(text) } }
    try store.executeOnSeparateConnection("DROP TABLE entry_log; DROP TABLE sync_runs")
    for _ in 0..<3 { try store.upsert(#"[{"Id":"a","__local__":true}]"#, into: "notes") }
    #expect(try store.rows("SELECT count(*) FROM {notes}") == "[[3]]")
    #expect(lines.withLock { $0 }.count == 1 && lines.withLock { $0 }[0].contains("entry_log"), "\(lines.withLock { $0 })")
    try store.writeBlocking(.pulled) { transaction in
      #expect(transaction.history?.begin(HistoryRun(1, name: nil, .syncUp, pid: 1, job: nil, startedAt: 1)) == nil)
    }
  }

  /// The function that hears of failures may refer to the store.
  @Test func close_releasesTheStore() throws {
    weak var closed: Store?
    do {
      let other = try TemporaryStore()
      closed = other.store
      other.store.keepHistory(.all, of: HistoryActor(.host)) { [store = other.store] _ in _ = store.name }
      other.store.close()
    }
    #expect(closed == nil)
  }

  // MARK: The store's id

  @Test func id_isOfThisStoreAlone() throws {
    let id = try #require(try store.readBlocking { try $0.storeId() })
    #expect(id.utf8.count == 36 && id.utf8.filter { $0 == UInt8(ascii: "-") }.count == 4, "\(id)")
    try test.reopen()
    #expect(try store.readBlocking { try $0.storeId() } == id)
    let other = try TemporaryStore()
    #expect(try other.store.readBlocking { try $0.storeId() } != id)
  }
}

/// The members in which two texts differ.
@Suite struct ChangedMembersTests {
  private func changed(_ old: String, _ new: String) -> ChangedMembers {
    Array(old.utf8).withUnsafeBytes { old in Array(new.utf8).withUnsafeBytes { ChangedMembers(from: old, to: $0) } }
  }

  @Test(
    arguments: [
      (#"{"a":1,"b":2}"#, #"{"a":1,"b":3}"#, ["b"]), (#"{"a":1}"#, #"{"a":1,"c":null}"#, ["c"]),
      (#"{"a":1,"b":2}"#, #"{"b":2}"#, ["a"]),
      (#"{"a":1,"b":2}"#, #"{"b":2,"a":1}"#, []), (#"{ "a" : {"x":[1]} }"#, #"{"a":{"x":[1]}}"#, []), ("{}", "{}", []),
      (#"{"_soupEntryId":1,"__local__":false,"a":1}"#, #"{"_soupEntryId":1,"__local__":true,"a":"1"}"#, ["a"]),
      (#"{"a\u0062":1}"#, #"{"a\u0062":2}"#, ["ab"]), (#"{"a":"\""}"#, #"{"a":"\\"}"#, ["a"]), ("", #"{"a":1}"#, ["a"]),
      (#"{"__x":1}"#, #"{"__x":2}"#, ["__x"]),
    ] as [(String, String, [String])])
  func members_ofTwoTexts_areThoseThatDiffer(old: String, new: String, names: [String]) {
    #expect(changed(old, new).names == names)
  }

  @Test func deletion_isSeenOnce() {
    #expect(changed(#"{"__locally_deleted__":false}"#, #"{"__locally_deleted__":true}"#).isDeletion)
    #expect(!changed(#"{"__locally_deleted__":true}"#, #"{"__locally_deleted__":true,"a":1}"#).isDeletion)
  }
}
