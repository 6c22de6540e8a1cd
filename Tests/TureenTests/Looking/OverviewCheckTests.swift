import JSON
import Testing

@testable import Tureen

/// The limits of `tureen status --check` and its gauges.
@Suite struct OverviewCheckTests {
  private static let now: Int64 = 1_800_000_000_000

  private func overview(_ soup: JSONObject = [:], _ sync: JSONObject = [:]) -> JSONValue {
    var figures: JSONObject = [
      "soup": "contacts", "entries": 10, "dirty": 0, "waiting": 0, "skipped": 0, "held": 0, "conflicts": 0, "newConflicts": 0,
      "refused": 0, "inDoubt": 0, "oldestWaiting": nil,
    ]
    for (key, value) in soup { figures[key] = value }
    var state: JSONObject = [
      "name": "contactsDown", "status": "DONE", "startTime": .integer(Self.now - 1000), "endTime": .integer(Self.now - 500),
      "lastSuccess": .integer(Self.now - 500), "coveredTimeStamp": 1_799_999_999_000, "fetched": 7,
    ]
    for (key, value) in sync { state[key] = value }
    return [
      "apiUsage": ["used": 63, "max": 15000],
      "stores": [
        [
          "storeName": "defaultStore", "isGlobalStore": false, "bytes": 4096, "walBytes": 12, "soups": [.object(figures)],
          "syncs": [.object(state)],
        ]
      ],
    ]
  }

  private func findings(_ limits: String, _ overview: JSONValue) throws -> [String] {
    try OverviewCheck(limits).findings(overview, now: Self.now)
  }

  @Test func check_nothingWrong_findsNothing() throws { #expect(try findings(OverviewCheck.standard, overview()) == []) }

  /// A figure beyond a limit, or at its border.
  struct Case: Sendable, CustomStringConvertible {
    let limits: String
    var soup: JSONObject = [:]
    var sync: JSONObject = [:]
    var found = ""

    var description: String { "\(limits) \(soup) \(sync)" }
  }

  private static let late = JSONValue.integer(now - 7_200_001), intime = JSONValue.integer(now - 7_200_000)
  private static let failure: JSONObject = ["status": "FAILED", "lastSuccess": nil]
  private static let lateFailure: JSONObject = ["status": "FAILED", "lastSuccess": nil, "startTime": late]
  private static let abandoned: JSONObject = ["status": "ABANDONED", "lastSuccess": nil]
  private static let new: JSONObject = ["status": "NEW", "lastSuccess": nil, "startTime": 0]
  private static let beyond: [Case] = [
    Case(limits: "failed=0", sync: failure, found: "1 sync failed"),
    Case(limits: "failed=0", sync: abandoned, found: "1 sync failed"),
    Case(limits: "age=2h", sync: ["lastSuccess": late], found: "contactsDown older than 2h"),
    Case(limits: "age=2h", sync: lateFailure, found: "contactsDown older than 2h"),
    Case(limits: "age=2h", sync: new, found: "contactsDown never ran"),
    Case(
      limits: "dirty=1d", soup: ["oldestWaiting": .integer(now - 86_400_001)],
      found: "entries of contacts wait longer than 1d"),
    Case(limits: "refused=3", soup: ["refused": 4], found: "4 refused"),
    Case(limits: "conflicts=50", soup: ["conflicts": 51], found: "51 conflicts"),
    Case(limits: "newConflicts=0", soup: ["conflicts": 22, "newConflicts": 3], found: "3 new conflicts (22 in all)"),
    Case(limits: "newConflicts=0", soup: ["conflicts": 1, "newConflicts": 1], found: "1 new conflict"),
  ]

  @Test(arguments: beyond) func check_beyondALimit_isFound(_ one: Case) throws {
    #expect(try findings(one.limits, overview(one.soup, one.sync)) == [one.found])
  }

  private static let within: [Case] = [
    Case(limits: "failed=1", sync: failure), Case(limits: "age=2h", sync: ["lastSuccess": intime]),
    Case(limits: "age=2h", sync: ["name": nil, "lastSuccess": 1]),
    Case(limits: "dirty=1d", soup: ["oldestWaiting": .integer(now - 86_400_000)]),
    Case(limits: "refused=4", soup: ["refused": 4]), Case(limits: "conflicts=50", soup: ["conflicts": 50]),
    Case(limits: "newConflicts=3", soup: ["conflicts": 22, "newConflicts": 3]),
    // One old conflict does not keep a monitor red.
    Case(limits: OverviewCheck.standard, soup: ["conflicts": 1, "newConflicts": 0]),
    // A figure that is not named has no limit.
    Case(limits: "age=2h", soup: ["refused": 9, "conflicts": 9, "newConflicts": 9], sync: ["status": "FAILED"]),
  ]

  @Test(arguments: within) func check_atALimit_isWithin(_ one: Case) throws {
    #expect(try findings(one.limits, overview(one.soup, one.sync)) == [])
  }

  @Test(arguments: [
    "", "age", "age=", "age=2", "age=-1h", "refused=x", "refused=-1", "conflict=1", "age=1h,,failed=0", "failed=0,",
  ])
  func check_wrongLimits_areRefused(_ limits: String) {
    #expect(throws: OverviewCheck.Problem.self) { try OverviewCheck(limits) }
  }

  @Test func check_almostALimit_saysWhichIsMeant() {
    #expect { try OverviewCheck("conflict=1") } throws: { "\($0)".contains("did you mean 'conflicts'?") }
  }

  // MARK: Gauges

  @Test func metrics_overview_areGaugesWithLabels() {
    let text = OverviewMetrics(overview(["waiting": 2, "oldestWaiting": 1])).text
    for line in [
      #"tureen_sync_last_success_timestamp_seconds{store="defaultStore",scope="user",sync="contactsDown"} 1799999999.500"#,
      #"tureen_sync_failed{store="defaultStore",scope="user",sync="contactsDown"} 0"#,
      #"tureen_sync_covered_timestamp_seconds{store="defaultStore",scope="user",sync="contactsDown"} 1799999999.000"#,
      #"tureen_sync_last_run_seconds{store="defaultStore",scope="user",sync="contactsDown"} 0.500"#,
      #"tureen_sync_last_run_records{store="defaultStore",scope="user",sync="contactsDown",outcome="fetched"} 7"#,
      #"tureen_entries{store="defaultStore",scope="user",soup="contacts"} 10"#,
      #"tureen_unsent_entries{store="defaultStore",scope="user",soup="contacts",state="waiting"} 2"#,
      #"tureen_store_bytes{store="defaultStore",scope="user"} 4096"#, #"tureen_wal_bytes{store="defaultStore",scope="user"} 12"#,
      "tureen_api_calls_used 63", "tureen_api_calls_max 15000",
    ] {
      #expect(text.contains(line + "\n"), "\(line) is missing in:\n\(text)")
    }
  }

  /// Each series once, each name with its help and type before it, and no other form of line.
  @Test func metrics_textIsStrict() throws {
    var many = overview()
    let unnamed: JSONObject = ["status": "FAILED", "startTime": 5, "endTime": 6]
    let odd: JSONObject = ["name": "a \"quoted\" \\ name\nin two lines", "status": "DONE", "lastSuccess": 1000]
    var store = try #require(many["stores"]?.arrayValue?.first?.objectValue)
    store["syncs"] = [.object(unnamed), .object(unnamed), .object(odd)]
    many = ["stores": [.object(store)]]
    let text = OverviewMetrics(many).text
    #expect(text.hasSuffix("\n"))
    var series: Set<String> = [], announced: Set<String> = []
    let label = #"[a-z]+="(?:[^"\\\n]|\\[\\n"])*""#
    let form = try Regex(
      "^(tureen_[a-z_]+)(?:\\{\(label)(?:,\(label))*\\})? -?[0-9]+(?:\\.[0-9]+)?$", as: (Substring, Substring).self)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
      if let match = line.firstMatch(of: #/^# (?:HELP|TYPE) (tureen_[a-z_]+) /#) {
        announced.insert(String(match.1))
        continue
      }
      let match = try #require(line.firstMatch(of: form), "\(line)")
      #expect(announced.contains(String(match.1)), "\(line)")
      let name = String(line.prefix(upTo: line.lastIndex(of: " ") ?? line.endIndex))
      #expect(series.insert(name).inserted, "\(name) occurs twice")
    }
    #expect(text.contains(#"tureen_sync_failed{store="defaultStore",scope="user",sync=""} 2"#), "\(text)")
    #expect(text.contains(#"sync="a \"quoted\" \\ name\nin two lines""#))
  }
}
