import JSON
import SmartStore
import Support
import TestSupport

/// A call of a store that gives a text.
struct RandomCall {
  let name: String
  let run: (Caller) throws -> String
}

/// Makes calls of every kind with values that are hard to get right.
struct RandomCalls {
  static let soups = ["a", "b"]
  static let specs = [
    IndexSpec(path: "Id", type: .string), IndexSpec(path: "name", type: .string), IndexSpec(path: "n", type: .integer),
    IndexSpec(path: "f", type: .floating), IndexSpec(path: "j", type: .json1), IndexSpec(path: "__local__", type: .string),
    IndexSpec(path: "o.k", type: .string), IndexSpec(path: "list.x", type: .string),
  ]
  private static let otherSpecs = [
    [IndexSpec(path: "Id", type: .string), IndexSpec(path: "n", type: .json1), IndexSpec(path: "j", type: .string)],
    [
      IndexSpec(path: "Id", type: .string), IndexSpec(path: "name", type: .string), IndexSpec(path: "__local__", type: .json1),
      IndexSpec(path: "f", type: .integer), IndexSpec(path: "n", type: .floating),
    ],
    [IndexSpec(path: "Id", type: .string), IndexSpec(path: "__local__", type: .integer), IndexSpec(path: "name", type: .string)],
    specs,
  ]

  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(state: seed) }

  private mutating func pick<T>(_ values: [T]) -> T { values[Int.random(in: 0..<values.count, using: &random)] }
  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
  private mutating func soup() -> String { pick(RandomCalls.soups) }
  private mutating func ids() -> [Int64] { (0..<Int.random(in: 1...4, using: &random)).map { _ in id() } }
  private mutating func id() -> Int64 { Int64.random(in: 1...30, using: &random) }
  private mutating func externalId() -> String { pick(["x", "y", "local_", "ü"]) + "\(Int.random(in: 0...9, using: &random))" }

  /// JSON values of every class, at the borders of their types.
  static let values = [
    "null", "true", "false", "0", "1", "-1", "7", "2.5", "-2.5", "1e3", "10.0", "9007199254740993", "9223372036854775807",
    "-9223372036854775808", "9223372036854775808", "1e300", "5e-324", "\"\"", "\"7\"", "\"a\"", "\"A\"", "\"ab\"", "\"Ab%\"",
    "\"a_b\"", "\"é\"", "\"e\\u0301\"", "\"\\u00e9\"", "\"a\\\\u0000\"", "\"\\ud83d\\ude00\"", "\"a'b\"",
    "\"\\\"q\\\"\"", "[1,\"a/b\"]", "{\"k\":{}}", "[]", "\"true\"", "\"zz zz\"", "\" 7 \"",
  ]

  private mutating func entry(id: String? = nil, withEntryId: Bool = true) -> String {
    var members: [String] = []
    if withEntryId, chance(40) { members.append("\"_soupEntryId\":\(self.id())") }
    if let id { members.append("\"Id\":\"\(id)\"") } else if chance(80) { members.append("\"Id\":\"\(externalId())\"") }
    for key in ["name", "n", "f", "j", "other"] where chance(70) { members.append("\"\(key)\":\(pick(RandomCalls.values))") }
    if chance(30) { members.append("\"o\":{\"k\":\(pick(RandomCalls.values))}") }
    if chance(20) { members.append("\"list\":[{\"x\":\(pick(RandomCalls.values))},{\"x\":\"p\"},3]") }
    if chance(40) { members.append("\"__local__\":\(pick(["true", "false"])),\"__locally_updated__\":true") }
    if chance(10) { members.append("\"__locally_created__\":true,\"_soupLastModifiedDate\":\(pick(["1", "99999999999999"]))") }
    return "{\(members.joined(separator: ","))}"
  }

  /// Entries without ids of their own.
  mutating func entries(_ count: Int) -> String {
    "[" + (0..<count).map { _ in entry(withEntryId: false) }.joined(separator: ",") + "]"
  }

  // MARK: Changes

  mutating func next() -> RandomCall {
    let soup = soup()
    switch Int.random(in: 0..<22, using: &random) {
    case 0...3:
      let text = "[" + (0..<Int.random(in: 1...5, using: &random)).map { _ in entry() }.joined(separator: ",") + "]"
      let path = pick(["_soupEntryId", "_soupEntryId", "Id", "Id", "Id", "n", "j"])
      return RandomCall(name: "upsert \(text) by \(path)") {
        $0.text(try $0.store.upsert(Array(text.utf8), into: soup, externalIdPath: path))
      }
    case 4...7: return page(soup)
    case 8:
      let ids = ids()
      return RandomCall(name: "remove \(ids)") { caller in
        try caller.store.remove(ids, from: soup)
        return ""
      }
    case 9:
      guard chance(25) else { return save(soup) }
      return RandomCall(name: "clear") { caller in
        try caller.store.clearSoup(soup)
        return ""
      }
    case 10:
      let specs = pick(RandomCalls.otherSpecs), reIndexes = chance(60)
      return RandomCall(name: "alter to \(specs.map { "\($0.path):\($0.type)" }) \(reIndexes)") { caller in
        try caller.store.alterSoup(soup, indexSpecs: specs, reIndexData: reIndexes)
        return "\(try caller.store.indexSpecs(ofSoup: soup))"
      }
    case 11:
      return RandomCall(name: "reIndex") { caller in
        try caller.store.reIndexSoup(soup, paths: ["name", "n", "f", "j"])
        return ""
      }
    case 12:
      guard chance(30) else { return save(soup) }
      return RandomCall(name: "remove and register") { caller in
        try caller.store.removeSoup(soup)
        return try caller.register(soup)
      }
    default: return record(soup)
    }
  }

  private mutating func save(_ soup: String) -> RandomCall {
    let text = entry(), id: Int64? = chance(50) ? id() : nil
    return RandomCall(name: "save \(text) as \(id ?? 0)") { caller in
      try caller.write { "\(try $0.save(Array(text.utf8), as: id, in: soup) ?? -1)" }
    }
  }

  /// A page of a sync down.
  private mutating func page(_ soup: String) -> RandomCall {
    let records = (0..<Int.random(in: 1...8, using: &random)).map { _ in entry(id: externalId(), withEntryId: false) }
    let text = "[\(records.joined(separator: ","))]", keepDirty = chance(70), owner = Int64.random(in: 1...3, using: &random)
    let skipped: Set<Int> = chance(20) ? [0] : [], path = pick(["Id", "Id", "Id", "j", "name"])
    return RandomCall(name: "page \(text) by \(path)") { caller in
      try caller.write { transaction in
        var storage = PageStorage(
          idPath: path, members: ["__local__": false, "__sync_id__": .integer(owner)], dropped: ["__locally_created__"],
          keepDirty: keepDirty, owner: owner, skipping: skipped)
        storage.expectedTotal = nil
        let plan = try transaction.pagePlan(
          soup: soup, idPath: path, ownedKeys: ["__local__", "__sync_id__", "__locally_created__"])
        let page = try plan.scan(ByteArrayPage(Array(text.utf8)), recordsKey: nil)
        var kept: [String] = []
        let outcome = try transaction.storeRecords(page, in: soup, storage) { kept.append("\($0)=\($1)") }
        let same = try transaction.areStored(Array(0..<page.count), on: page, in: soup, by: path, overlay: storage.members)
        return "\(outcome) \(kept) \(same)"
      }
    }
  }

  /// The records that syncs keep about entries.
  private mutating func record(_ soup: String) -> RandomCall {
    let id = id(), ids = ids(), number = Int64.random(in: 1...3, using: &random), text = externalId()
    let operation = pick([UploadRecord.Operation.create, .update, .delete])
    let state = pick([UploadRecord.State.sent, .inDoubt, .repeatable, .refused])
    switch Int.random(in: 0..<14, using: &random) {
    case 0:
      let server = pick([ConflictRecord.Server.record(Array("{\"a\":1}".utf8)), .deleted, .unknown])
      return write("conflict of \(id)") {
        try $0.noteConflict(
          ConflictRecord(entryId: id, syncId: number, server: server, idField: "Id", dateField: "d", detectedAt: number), in: soup
        )
      }
    case 1: return write("forget conflict of \(id)") { try $0.forgetConflict(of: id, in: soup) }
    case 2: return write("base of \(id)") { try $0.setBase(of: id, in: soup, to: Array("{\"b\":\(number)}".utf8)) }
    case 3:
      return RandomCall(name: "claim \(ids)") { caller in
        try caller.write { transaction in
          let batch = try transaction.entries(ids, in: soup)
          let uploads = zip(batch.ids, batch.versions).map {
            UploadRecord(
              entryId: $0, version: $1, syncId: number, fence: 1, operation: operation, sentAt: 5, sent: Array("{}".utf8))
          }
          return "\(try transaction.claim(uploads, in: soup) { $0.syncId == 1 })"
        }
      }
    case 4:
      let uploads = ids.map {
        UploadRecord(
          entryId: $0, version: 1, syncId: number, operation: operation, state: state, sentAt: 7, resendAt: 9,
          sent: Array("{\"fields\":{\"n\":1}}".utf8), entryText: Array("{}".utf8))
      }
      return write("journal \(ids)") { try $0.journal(uploads, in: soup) }
    case 5: return write("endAttempts \(ids)") { try $0.endAttempts(ids, in: soup, sentBy: number == 1 ? nil : (number, 1)) }
    case 6: return write("expect echoes \(ids)") { try $0.expectEchoes(ids, in: soup) }
    case 7: return write("own stamp of \(id)") { try $0.noteOwnStamp(number, of: id, in: soup) }
    case 8: return write("remove uploaded \(id)") { try $0.removeUploaded(id, externalId: text, from: soup) }
    case 9: return write("forget stale echoes") { try $0.forgetStaleEchoes(in: soup) }
    case 10: return write("join \(id)") { try $0.join(id, in: soup, owner: number) }
    case 12:
      return write("forget ended updates") { try $0.forgetEndedUpdates(in: soup) { $0.syncId == 1 } }
    case 11: return write("absorb \(ids[0]) into \(id)") { if ids[0] != id { try $0.absorb(ids[0], into: id, in: soup) } }
    default:
      return write("makers, arrivals and ids") {
        try $0.noteMaker(number, of: id, in: soup)
        try $0.noteArrivals(ids, in: soup)
        if number == 2 { try $0.forgetArrivals(in: soup) }
        try $0.keepWaiting(ids, in: soup, until: number)
        try $0.noteAssignedId("S\(number)", for: text, in: soup, now: number)
        if number == 3 { try $0.forgetAssignedIds(before: 3) }
        try $0.setKeyValue(text, to: Array("v\(number)".utf8), in: "kv")
        if number == 3 { _ = try $0.removeKeyValue("x1", from: "kv") }
        try $0.keepSyncPage(text, Array("[\(number)]".utf8), of: number)
      }
    }
  }

  private func write(_ name: String, _ body: @escaping (StoreTransaction) throws -> Void) -> RandomCall {
    RandomCall(name: name) { caller in
      try caller.write { transaction in
        try body(transaction)
        return ""
      }
    }
  }

  // MARK: Reads

  /// Reads everything about both soups.
  mutating func reads() -> [RandomCall] {
    RandomCalls.soups.flatMap { soup in
      let ids = Array(Int64(1)...40)
      return [
        RandomCall(name: "entries of \(soup)") { caller in
          try caller.read { snapshot in
            let batch = try snapshot.entries(ids, in: soup)
            return "\(batch.ids) \(batch.versions) \(caller.text(batch.text)) \(try snapshot.dirtyEntryIds(in: soup))"
          }
        },
        RandomCall(name: "bases and conflicts of \(soup)") { caller in
          try caller.read { snapshot in
            let bases = try snapshot.bases(of: ids, in: soup).sorted { $0.key < $1.key }.map {
              "\($0.key) \(caller.text($0.value))"
            }
            return
              "\(bases) \(try snapshot.conflicts(in: soup)) \(try snapshot.conflicts(of: ids.reversed(), in: soup)) \(try snapshot.soupsInConflict())"
          }
        },
        RandomCall(name: "uploads of \(soup)") { caller in
          try caller.read { snapshot in
            let echoes = try snapshot.echoes(in: soup, idPath: "Id").sorted { $0.value < $1.value }.map {
              "\($0.key)=\($0.value)"
            }
            return """
              \(try snapshot.unsettledUploads(in: soup)) \(try snapshot.unsettledCreates(in: soup)) \
              \(try snapshot.arrivals(in: soup).sorted()) \(try snapshot.uploadSequence()) \(echoes.count) \
              \(try snapshot.uploads(in: soup, idPath: "Id", since: 2).values.sorted()) \
              \(try snapshot.uploaded(of: ids, in: soup).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }) \
              \(try (0...9).map { try snapshot.assignedId(for: "x\($0)", in: soup) ?? "-" })
              """
          }
        },
        RandomCall(name: "owners of \(soup)") { caller in
          try caller.read { snapshot in
            """
            \(try ids.map { try snapshot.otherOwners(of: $0, than: 1, in: soup) }) \(try snapshot.ownedByMakers(in: soup)) \
            \(try snapshot.externalIds(in: soup, path: "Id", ownedBy: 2, dirty: false)) \
            \(try snapshot.externalIds(in: soup, path: "n", ownedBy: nil, dirty: nil)) \
            \(try snapshot.externalIds(in: soup, path: "other", ownedBy: nil, dirty: true)) \
            \(try snapshot.serverIdCount(in: soup, path: "Id", localPrefix: "local_")) \
            \(try snapshot.serverIds(in: soup, path: "Id", stampPath: "name", localPrefix: "local_", after: "x2", limit: 5)) \
            \(try snapshot.cleanEntries(in: soup, where: "n", equals: .integer(1), idPath: "Id", among: nil)) \
            \(try snapshot.cleanEntries(in: soup, where: "j", equals: .text("a"), idPath: "other", among: ids)) \
            \(try snapshot.entryIds(in: soup, where: "other", equals: .real(2.5))) \
            \(try snapshot.entryIds(in: soup, where: "n", equalsEach: [.integer(1), .text("7"), .null, .real(2.5), .text("a")])) \
            \(try snapshot.entryIds(in: soup, where: "j", equalsEach: [.integer(1), .text("7"), .real(10), .text("A")])) \
            \(try snapshot.entryIds(in: soup, where: "name", equalsEach: [.integer(7), .text("7"), .real(2.5), .text("A")])) \
            \(try snapshot.versions(of: ids, in: soup).sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }) \
            \(try snapshot.unsettledUploads(of: ids.reversed(), in: soup)) \
            \(try snapshot.entryIds(in: soup, without: "name")) \
            \(try snapshot.syncPages(of: 1).sorted { $0.key < $1.key }.map { "\($0.key)\($0.value)" }) \
            \(try snapshot.keyValueKeys(in: "kv", matching: "x*")) \(try snapshot.keyValueCount(in: "kv")) \
            \(try snapshot.keyValueStoreNames()) \(try snapshot.keyValue("y1", in: "kv") ?? [])
            """
          }
        },
      ]
    }
  }

  /// A query over a soup, whole or by a cursor.
  mutating func query() -> RandomCall {
    let soup = soup()
    let paths = ["Id", "name", "n", "f", "j", "other", "o.k", "list.x", "_soupEntryId", "o", "missing"]
    let keys = RandomCalls.values.compactMap { try? JSONValue(parsing: Array($0.utf8)) }.filter {
      $0.objectValue == nil && $0.arrayValue == nil && $0 != .null
    }
    var spec = QuerySpec(kind: pick([.exact, .range, .like]))
    spec.indexPath = pick(paths)
    spec.matchKey = pick(keys)
    spec.likeKey = pick(["a%", "%b%", "A_b", "é%", "7%", "%", "", "zz%", "Ab\\%", "%.0"])
    spec.beginKey = chance(70) ? pick(keys) : nil
    spec.endKey = chance(50) ? pick(keys) : nil
    spec.orderPath = chance(60) ? pick(paths) : nil
    spec.order = chance(50) ? .ascending : .descending
    spec.pageSize = Int.random(in: 1...30, using: &random)
    spec.selectPaths = chance(40) ? [pick(paths), pick(paths), "_soupEntryId"] : nil
    let final = spec, pages = (0..<4).map { _ in Int64.random(in: 0...20, using: &random) }
    return RandomCall(name: "\(final)") { caller in
      let opened = try caller.store.openCursor(final, soup: soup)
      guard let id = try JSONValue(parsing: opened)["cursorId"]?.integerValue else { return "no cursor" }
      var text = caller.text(opened) + " \(try caller.store.count(final, soup: soup))"
      for page in pages { text += " " + caller.text(try caller.store.moveCursor(id, toPageIndex: page)) }
      caller.store.closeCursor(id)
      return text
    }
  }
}
