import JSON
import SandboxParse
import SandboxServer
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Parse
@testable import SmartStore

/// One random scenario: local and remote changes, syncs with faults and a killed process, and a
/// quiet end.
final class ParseScenario {
  private let kind: ParseScenarioKind
  private let bench: ParseBench
  private let isAlone: Bool
  private let mode: MergeMode
  private let label: String
  private var random: SeededGenerator
  private var lastName = 0
  private var deletedByOthers: Set<String> = []
  private var history: [String] = []
  private var authors: [String] = []

  private static let steps = 12
  private static let patience = 20
  private static let soups = [("isbns", "ISBN"), ("books", "Book")]

  /// - Parameters:
  ///   - isAlone: Whether nobody else changes anything; there must be no conflict then.
  ///   - again: How to repeat the scenario.
  init(_ kind: ParseScenarioKind, isAlone: Bool = false, seed: UInt64, again: String) async throws {
    self.kind = kind
    self.isAlone = isAlone
    random = SeededGenerator(state: seed)
    mode = [MergeMode.leaveIfChanged, .merge, .overwrite].randomElement(using: &random) ?? .merge
    label = "\(kind.testDescription), \(mode), \(again)"
    bench = try await ParseBench(soups: ["isbns", "books", "authors"], links: ["links"])
  }

  func run() async throws {
    do {
      try await begin()
      for _ in 0..<Self.steps { try await step() }
      try await settle()
    } catch {
      await bench.close()
      throw error
    }
    await bench.close()
  }

  private func begin() async throws {
    authors = try await bench.create("Author", count: 3) { ["title": .string("author \($0)")] }
    for _ in 0..<5 { try await otherCreates() }
    let keep: JSONObject = ["mergeMode": "LEAVE_IF_CHANGED"]
    for (soup, name) in Self.soups {
      try bench.manager.createSyncDown(target: kind.down(name), options: keep, soupName: soup, syncName: soup + "Down")
      try bench.manager.createSyncUp(
        target: kind.up(name), options: ["mergeMode": .string(mode.rawValue)], soupName: soup, syncName: soup + "Up")
    }
    // An object that is created here may be gone before any sync down has seen it.
    guard Int.random(in: 0..<3, using: &random) > 0 else { return }
    for (soup, _) in Self.soups { _ = try await bench.manager.reSync(.name(soup + "Down")) }
  }

  private func step() async throws {
    bench.clock.advance(by: 1)
    switch Int.random(in: (isAlone ? 4 : 0)..<16, using: &random) {
    case 0: try await otherCreates()
    case 1, 2: try await otherChanges()
    case 3: try await otherDeletes()
    case 4, 5, 6: try localCreates()
    case 7: try localChanges()
    case 8: try localDeletes()
    case 9: try localLinks()
    case 10, 11, 12, 13: for name in kind.ups { try await sync(name) }
    case 14: try await sync(["booksDown", "isbnsDown"].randomElement(using: &random) ?? "booksDown")
    default: try await sync("ghosts")
    }
  }

  private func name(_ kind: String) -> String {
    lastName += 1
    return "\(kind) \(lastName)"
  }

  // MARK: Other clients

  private func otherCreates() async throws {
    let title = name("theirs")
    history.append("other creates \(title)")
    let isbn = try await bench.create("ISBN", ["title": .string("of " + title), "text": "x"])
    let book = try await bench.create("Book", ["title": .string(title), "text": "x", "isbn": pointer("ISBN", isbn)])
    guard let author = authors.randomElement(using: &random) else { return }
    try await link(book, author, "AddRelation")
  }

  private func link(_ book: String, _ author: String, _ operation: String) async throws {
    try await bench.call(
      .PUT, "/classes/Book/\(book)",
      ["authors": ["__op": .string(operation), "objects": [pointer("Author", author)]]])
  }

  private func live(_ className: String) async throws -> [JSONObject] {
    try await bench.objects(className).filter { $0["gone"] != true }
      .sorted { ($0["title"]?.stringValue ?? "") < ($1["title"]?.stringValue ?? "") }
  }

  private func otherChanges() async throws {
    guard let object = try await live("Book").randomElement(using: &random), let id = object["objectId"]?.stringValue else {
      return
    }
    let text = name("there")
    history.append("other changes \(object["title"]?.stringValue ?? "") to \(text)")
    try await bench.call(.PUT, "/classes/Book/\(id)", ["text": .string(text)])
    guard let author = authors.randomElement(using: &random) else { return }
    try await link(id, author, Bool.random(using: &random) ? "AddRelation" : "RemoveRelation")
  }

  /// Deletes also objects that no sync down has seen yet.
  private func otherDeletes() async throws {
    guard let object = try await live("Book").randomElement(using: &random), let id = object["objectId"]?.stringValue else {
      return
    }
    let title = object["title"]?.stringValue ?? ""
    history.append("other deletes \(title)")
    deletedByOthers.insert(title)
    if kind.marksDeleted {
      try await bench.call(.PUT, "/classes/Book/\(id)", ["gone": true])
    } else {
      try await bench.call(.DELETE, "/classes/Book/\(id)")
    }
  }

  // MARK: Local changes

  private func localCreates() throws {
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let title = name("mine"), isbn = "local_i\(lastName)", book = "local_b\(lastName)"
      history.append("here: creates \(title)")
      try bench.make(["objectId": .string(isbn), "title": .string("of " + title), "text": "x"], "isbns")
      try bench.make(
        ["objectId": .string(book), "title": .string(title), "text": "x", "size": size(), "isbn": pointer("ISBN", isbn)])
      guard Bool.random(using: &random), let author = authors.randomElement(using: &random) else { continue }
      try bench.make(LinkRow("Book", book, "authors", author).json, "links")
    }
  }

  /// Returns a number that the server may store as another one.
  private func size() -> JSONValue {
    let sizes: [JSONValue] = [
      .decimal("1e2"), .decimal("2.50"), 9_007_199_254_740_993, .decimal("18446744073709551615"), 3, nil,
    ]
    return sizes.randomElement(using: &random) ?? nil
  }

  private func known() throws -> JSONObject? {
    try bench.entries().filter {
      $0["__locally_created__"] != true && $0["__locally_deleted__"] != true
        && !($0["objectId"]?.stringValue?.hasPrefix("local_") ?? true)
    }.randomElement(using: &random)
  }

  private func localChanges() throws {
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      guard let id = try known()?["objectId"]?.stringValue else { return }
      let text = name("here")
      history.append("here: changes \(id) to \(text)")
      try bench.edit(id, ["text": .string(text), "size": size()])
    }
  }

  private func localDeletes() throws {
    guard let id = try known()?["objectId"]?.stringValue else { return }
    history.append("here: deletes \(id)")
    try bench.delete(id)
  }

  /// Adds or removes a link.
  private func localLinks() throws {
    guard let id = try known()?["objectId"]?.stringValue, let author = authors.randomElement(using: &random) else { return }
    let row = LinkRow("Book", id, "authors", author)
    let there = try bench.entries("links").first { $0["linkKey"]?.stringValue == row.key }
    history.append("here: \(there == nil ? "links" : "unlinks") \(id) and \(author)")
    guard let there else { return try bench.make(row.json, "links") }
    let marks: JSONObject = ["__local__": true, "__locally_deleted__": true]
    try bench.store.upsert(JSONValue.array([.object(there.replacing(with: marks))]).text, into: "links")
  }

  // MARK: Syncs

  private func dirty(_ soup: String) throws -> [Int64: JSONObject] {
    let dirty = try bench.entries(soup).filter { $0["__local__"] == true }
    return Dictionary(uniqueKeysWithValues: dirty.map { ($0["_soupEntryId"]?.integerValue ?? 0, $0) })
  }

  private func sync(_ name: String) async throws {
    let before = try Self.soups.map { try dirty($0.0) }, asked = bench.server.requests().count
    let isKilled = Int.random(in: 0..<5, using: &random) == 0
    let rules = (0..<Int.random(in: 0...2, using: &random)).map { _ in rule() }
    try bench.server.faults.add(rules)
    let isRemade = !isKilled && kind.ups.contains(name) && Int.random(in: 0..<5, using: &random) == 0
    let remake = isRemade ? remake() : nil, store = bench.store
    if let remake {
      bench.server.setInterceptor { _ in
        remake.note(in: store)
        return nil
      }
    }
    if isKilled { try kill(name == "ghosts" ? "booksDown" : name, atRequest: Int.random(in: 1...6, using: &random)) }
    let faults = rules.map { "\($0.fault.kind) \(JSONValue.object($0.fault.parameters).text) \($0.condition)" }
    history.append("\(name), \(faults.joined(separator: ", "))\(isKilled ? " (killed)" : "")")
    if name == "ghosts" {
      _ = try? await bench.cleanGhosts(force: true, name: "booksDown")
    } else {
      let end = try? await bench.manager.reSync(.name(name))
      history.append("  \(end?.status.rawValue ?? "cut off") \(end?.error ?? "")")
    }
    bench.server.setInterceptor(nil)
    bench.server.faults.clear()
    history += requests(from: asked)
    if isKilled { try await bench.reopen() }
    if let made = remake?.made { history.append("  the soups were made anew with \(made[1].count) books") }
    try checkNoConflict()
    for ((soup, className), dirty) in zip(Self.soups, remake?.made ?? before) {
      try await checkNothingLost(dirty, soup, className)
    }
  }

  /// Makes all soups with local changes anew, with a few books and their ISBNs.
  private func remake() -> SoupRemake {
    var isbns: [JSONObject] = [], books: [JSONObject] = [], links: [JSONObject] = []
    for _ in 0..<Int.random(in: 1...2, using: &random) {
      let title = name("fresh"), isbn = "local_i\(lastName)", book = "local_b\(lastName)"
      isbns.append(["objectId": .string(isbn), "title": .string("of " + title), "text": "x"])
      books.append(
        ["objectId": .string(book), "title": .string(title), "text": "x", "size": size(), "isbn": pointer("ISBN", isbn)])
      if let author = authors.first { links.append(LinkRow("Book", book, "authors", author).json) }
    }
    let soups = [
      SoupRemake.Soup("isbns", ParseBench.specs, entries: isbns), SoupRemake.Soup("books", ParseBench.specs, entries: books),
      SoupRemake.Soup("links", ParseBench.linkSpecs, entries: links),
    ]
    return SoupRemake(soups, atRequest: Int.random(in: 1...5, using: &random))
  }

  private func rule() -> FaultRule {
    let faults: [Fault] = [
      .dropBeforeHandling(), .dropBeforeResponse(), .dropInsideResponse(bytes: 40), .htmlPage(status: 502),
      .htmlPage(status: 200),
      .truncateBody(bytes: 9), Fault("emptyBody"), Fault("invalidJSON"), Fault("serverError"), Fault("unavailable"),
      Fault("tooManyRequests", ["retryAfter": 2]), Fault("internalError"), Fault("internalError", ["executed": true]),
      Fault("shuffledBatch"), Fault("tiedStamps", ["milliseconds": 5000]), Fault("staleStamps", ["milliseconds": 9000]),
      Fault("loweredLimit", ["limit": 2]), Fault("lockedClass", ["className": "Book"]),
    ]
    let fault = faults.randomElement(using: &random) ?? .dropBeforeHandling()
    switch Int.random(in: 0..<3, using: &random) {
    case 0: return FaultRule(fault)
    case 1: return FaultRule(fault, when: .nth(Int.random(in: 1...5, using: &random)))
    default: return FaultRule(fault, when: .probability(0.4))
    }
  }

  /// Simulates the state after a process was killed: nothing that the run writes from then on is
  /// stored.
  private func kill(_ name: String, atRequest deadline: Int) throws {
    let sync = try bench.manager.getSyncStatus(.name(name))?.id ?? 0, store = bench.store, count = Mutex(0)
    let isHandled = Bool.random(using: &random)
    bench.server.setInterceptor { _ in
      let n = count.withLock { count in
        count += 1
        return count
      }
      guard n >= deadline else { return nil }
      guard n == deadline else { return .dropBeforeHandling }
      try? store.writeBlocking(.synced) { transaction in
        _ = try transaction.acquireLease(
          SyncLeases.name(sync), owner: "nobody/0/0", now: 0, duration: 0, takeover: { _ in true })
      }
      return isHandled ? .dropAfterHandling : .dropBeforeHandling
    }
  }

  // MARK: Invariants

  private func checkNoConflict() throws {
    guard isAlone else { return }
    for soup in ["isbns", "books", "links"] {
      let found = try bench.manager.conflicts(inSoup: soup)
      #expect(found.isEmpty, comment("a conflict that nobody else caused: \(found)"))
    }
  }

  /// Checks that each local change is still there or has reached the server.
  private func checkNothingLost(_ before: [Int64: JSONObject], _ soup: String, _ className: String) async throws {
    let after = try dirty(soup), there = try await live(className)
    for (id, entry) in before {
      let what = comment(JSONValue.object(entry).text)
      if let now = after[id] {
        #expect(now["text"] == entry["text"], what)
        continue
      }
      let copies = there.filter { $0["title"] == entry["title"] }
      if entry["__locally_deleted__"] == true {
        #expect(copies.isEmpty, what)
      } else if entry["__locally_created__"] == true {
        // A sync down brings a record whose create is in doubt; then others may delete it.
        #expect(copies.count == 1 || copies.isEmpty && deletedByOthers.contains(entry["title"]?.stringValue ?? ""), what)
      } else {
        #expect(copies.isEmpty || copies.contains { $0["text"] == entry["text"] }, what)
      }
    }
    let titles = there.compactMap { $0["title"]?.stringValue }
    #expect(Set(titles).count == titles.count, comment("created twice: \(titles)"))
  }

  private func requests(from first: Int) -> [String] {
    bench.server.requests().dropFirst(first).map { "    \($0.summary) \($0.body.prefix(300))" }
  }

  private func comment(_ what: String) -> Comment { "\(label)\n\(what)\n\(history.joined(separator: "\n"))" }

  // MARK: The end

  /// Syncs without faults, as often as a user would try.
  private func settle() async throws {
    for _ in 0..<Self.patience {
      bench.clock.advance(by: 700)
      for name in kind.ups {
        let asked = bench.server.requests().count
        let up = try await bench.manager.reSync(.name(name))
        history += requests(from: asked)
        history.append("quiet \(name): \(up.status.rawValue) \(up.error) \(up.counts)")
      }
      try await decideDoubts()
      try checkNoConflict()
      try decideConflicts()
      try await removeLinksOfNothing()
      if try ["isbns", "books", "links"].allSatisfy({ try dirty($0).isEmpty }) { break }
    }
    let left = try ["isbns", "books", "links"].flatMap { try dirty($0).values.map { JSONValue.object($0).text } }
    #expect(left.isEmpty, comment("still dirty: \(left)"))
    bench.clock.advance(by: 60)
    for (soup, className) in Self.soups {
      _ = try await bench.manager.reSync(.name(soup + "Down"))
      _ = try await bench.cleanGhosts(force: true, name: soup + "Down")
      let there = Set(try await live(className).map(Self.essence)), here = Set(try bench.entries(soup).map(Self.essence))
      let differing = "\(soup): here alone \(here.subtracting(there).sorted()), there alone \(there.subtracting(here).sorted())"
      #expect(try here == there && bench.entries(soup).count == there.count, comment(differing))
      let titles = try await live(className).compactMap { $0["title"]?.stringValue }
      #expect(Set(titles).count == titles.count, comment("created twice: \(titles)"))
    }
    try await checkLinks()
  }

  private func checkLinks() async throws {
    var there: Set<String> = []
    for book in try await live("Book") {
      guard let id = book["objectId"]?.stringValue else { continue }
      for author in try await bench.related("Author", to: "Book", id, "authors") {
        there.insert(LinkRow("Book", id, "authors", author).key)
      }
    }
    // A link row of a book that the soup does not contain is useless.
    let books = try bench.ids()
    let here = Set(
      try bench.entries("links").filter { books.contains($0["ownerId"]?.stringValue ?? "") }
        .compactMap { $0["linkKey"]?.stringValue })
    let differing = "links: here alone \(here.subtracting(there).sorted()), there alone \(there.subtracting(here).sorted())"
    #expect(here == there, comment(differing))
  }

  /// Decides doubtful creates as a user would: looks at the server, and takes over the object there
  /// or creates it again.
  private func decideDoubts() async throws {
    for (soup, className) in Self.soups {
      let doubtful = try bench.store.readBlocking { try $0.unsettledUploads(in: soup).filter(\.inDoubt).map(\.entryId) }
      guard !doubtful.isEmpty else { continue }
      #expect(kind.once == .nothing, comment("in doubt, although it can be found"))
      for entry in try bench.entries(soup) {
        guard let id = entry["_soupEntryId"]?.integerValue, doubtful.contains(id) else { continue }
        let found = try await live(className).first { $0["title"] == entry["title"] }
        history.append("decides about \(entry["title"]?.stringValue ?? ""): \(found == nil ? "anew" : "it is there")")
        let local = entry["objectId"]?.stringValue ?? ""
        try bench.store.remove([id], from: soup)
        if let real = found?["objectId"]?.stringValue {
          try point(from: local, to: real)
        } else {
          var anew = entry
          for key in ["_soupEntryId", "_soupLastModifiedDate", "__last_error__"] { anew[key] = nil }
          try bench.make(anew, soup)
        }
      }
    }
  }

  /// Replaces a local id by the server's in all records that refer to it.
  private func point(from local: String, to real: String) throws {
    for entry in try bench.entries() where entry["isbn"]?["objectId"]?.stringValue == local {
      try bench.store.upsert(
        JSONValue.array([.object(entry.replacing(with: ["isbn": pointer("ISBN", real)]))]).text, into: "books")
    }
    for row in try bench.entries("links") where row["ownerId"]?.stringValue == local {
      let link = LinkRow("Book", real, "authors", row["relatedId"]?.stringValue ?? "")
      try bench.store.upsert(JSONValue.array([.object(row.replacing(with: link.json))]).text, into: "links")
    }
  }

  /// Removes local links of a book that others deleted, as a user would after reading their
  /// `__last_error__`.
  private func removeLinksOfNothing() async throws {
    let books = Set(try await bench.objects("Book").compactMap { $0["objectId"]?.stringValue })
    for row in try bench.entries("links") where row["__local__"] == true {
      let owner = row["ownerId"]?.stringValue ?? ""
      guard !books.contains(owner) else { continue }
      let isUnknown = try !owner.hasPrefix("local_") && bench.entry(owner) == nil
      guard try bench.lastError(row)["code"] == 101 || isUnknown else { continue }
      try bench.store.remove([row["_soupEntryId"]?.integerValue ?? 0], from: "links")
    }
  }

  private func decideConflicts() throws {
    for (soup, _) in Self.soups {
      for conflict in try bench.manager.conflicts(inSoup: soup) {
        let isOurs = conflict.server == nil && conflict.kind != .deletedThere || Bool.random(using: &random)
        history.append(
          "conflict of \(conflict.local["title"]?.stringValue ?? ""), \(conflict.kind): \(isOurs ? "ours" : "theirs")")
        _ = try bench.manager.resolveConflict(
          inSoup: soup, entryId: conflict.entryId, with: isOurs ? .local : .server)
      }
    }
  }

  private static func essence(_ row: JSONObject) -> String {
    ["objectId", "title", "text"].map { row[$0]?.stringValue ?? "-" }.joined(separator: " | ")
      + " | \(row["isbn"]?["objectId"]?.stringValue ?? "-") | \((row["size"] ?? nil).text)"
  }
}
