import Glibc
import JSON
import PostgresStore
import SmartStore

/// Stores the pages of a sync down: the first load of a soup with five indexes, then the same records, all edited.
///
/// usage: EngineBench load PLACE NAME RECORDS kept|last. PLACE is the path of a new SQLite file, or the address of a PostgreSQL
/// database, in which the store NAME must not exist. `last` announces the number of records, so that the indexes are built after
/// the first load. Prints `ready` and waits for a line before each phase, then prints `first SECONDS` and `again SECONDS`.
struct Load {
  static let pageSize = 2000
  private static let soup = "contacts", states = "syncs", paths = ["Id", "LastName", "Email", "AccountId", "__local__"]

  let store: Store
  let records: Int
  let announcesTotal: Bool

  static func run(_ arguments: [String]) throws {
    guard arguments.count == 5, let records = Int(arguments[3]), records > 0, ["kept", "last"].contains(arguments[4]) else {
      fatalError("usage: EngineBench load PLACE NAME RECORDS kept|last")
    }
    let store = try open(arguments[1], arguments[2])
    defer { store.close() }
    let load = Load(store: store, records: records, announcesTotal: arguments[4] == "last")
    try load.measure()
  }

  private static func open(_ place: String, _ name: String) throws -> Store {
    guard place.hasPrefix("postgres://") else { return try Store(name: name, isGlobal: false, path: place, key: nil) }
    let engines = PostgresEngines(PostgresConnector(try PostgresAddress(place)), org: "bench", user: "bench")
    defer { engines.close() }
    return Store(name: name, isGlobal: false, engine: try engines.open(name, isGlobal: false))
  }

  private func measure() throws {
    try store.registerSoup(Self.soup, indexSpecs: Self.paths.map { IndexSpec(path: $0, type: .string) })
    try store.registerSoup(Self.states, indexSpecs: [IndexSpec(path: "name", type: .string)])
    let state = try store.writeBlocking(.synced) { transaction in
      try transaction.create(["name": "contactsDown", "progress": 0], in: Self.states)
    }
    for (phase, version) in [("first", 1), ("again", 2)] {
      let pages = stride(from: 0, to: records, by: Self.pageSize).map { page($0, version) }
      print("ready")
      fflush(nil)
      guard readLine() != nil else { return }
      let taken = try ContinuousClock().measure { try write(pages, state, isFirst: version == 1) }
      let stored = try count()
      guard stored == records else { fatalError("the store has \(stored) entries in place of \(records)") }
      print("\(phase) \(Double(taken.components.seconds) + Double(taken.components.attoseconds) / 1e18)")
    }
  }

  /// One transaction a page, with the lease and the state of the sync.
  private func write(_ pages: [[UInt8]], _ state: Int64, isFirst: Bool) throws {
    let lease = try store.writeBlocking(.synced) { transaction in
      try transaction.acquireLease("sync/1", owner: "bench", now: 0, duration: 3_600_000) { _ in true }
    }
    guard let lease else { fatalError("another process has the lease") }
    let plan = try store.readBlocking { try $0.pagePlan(soup: Self.soup, idPath: "Id", ownedKeys: ["__local__", "__sync_id__"]) }
    let storage = PageStorage(
      idPath: "Id", members: ["__local__": false, "__sync_id__": 1], keepDirty: true, owner: 1,
      expectedTotal: announcesTotal ? records : nil)
    for (number, bytes) in pages.enumerated() {
      let page = try plan.scan(ByteArrayPage(bytes), recordsKey: nil)
      try store.writeBlocking(.pulled) { transaction in
        try transaction.verify(lease)
        _ = try transaction.storeRecords(page, in: Self.soup, storage)
        _ = try transaction.replace(state, with: ["name": "contactsDown", "progress": .integer(Int64(number))], in: Self.states)
        if number == pages.count - 1 { try transaction.finishBulkLoad(soup: Self.soup) }
      }
    }
    try store.writeBlocking(.synced) { try $0.releaseLease(lease) }
  }

  private func count() throws -> Int {
    let text = try store.query(.smart("SELECT count(*) FROM {\(Self.soup)}", pageSize: 1), soup: nil)
    return Int(String(decoding: text.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }, as: UTF8.self)) ?? -1
  }

  /// The text of a page: records of about 600 bytes.
  private func page(_ first: Int, _ version: Int) -> [UInt8] {
    let padding = String(repeating: "x", count: 330)
    let texts = (first..<min(first + Self.pageSize, records)).map { number in
      let digits = String(number), id = "003" + String(repeating: "0", count: 15 - digits.count) + digits, key = number &* 7919 % 100_003
      return """
        {"attributes":{"type":"Contact","url":"/services/data/v66.0/sobjects/Contact/\(id)"},"Id":"\(id)","FirstName":"Ada",\
        "LastName":"Lovelace \(key)","Email":"ada.\(key)@example.com","AccountId":"001\(id.dropFirst(3))",\
        "LastModifiedDate":"2026-01-0\(version)T00:00:00.000+0000","Description":"\(padding)"}
        """
    }
    return Array("[\(texts.joined(separator: ","))]".utf8)
  }
}
