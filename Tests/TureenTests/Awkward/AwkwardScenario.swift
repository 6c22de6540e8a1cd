import JSON
import MobileSync
import SmartStore
import TestSupport
import Testing
import Tureen

/// One walk: changes on both sides whose texts, numbers, keys and ids are awkward, syncs, and files.
///
/// Only what is edited changes: every other member keeps its texts and digits, in the soup and on the server. In the end both
/// are equal.
final class AwkwardScenario {
  private let world: AwkwardWorld
  private let label: String
  private var source: AwkwardSource
  private var mode = ""
  /// Whether nobody else changes anything; there must be no conflict then.
  private var isAlone = false
  private var lastId = 0
  private var history: [String] = []
  /// The fields, by position, that were edited here since the last quiet moment, by the canonical id of the record.
  private var edited: [String: Set<Int>] = [:]

  private static let steps = 12
  private static let patience = 12

  private var service: any AwkwardService { world.service }

  init(_ world: AwkwardWorld, seed: UInt64, label: String) {
    self.world = world
    self.label = label
    source = AwkwardSource(seed: seed)
  }

  func run() async throws {
    mode = source.pick(service.modes)
    let downMode = source.pick(["LEAVE_IF_CHANGED", "MERGE"])
    isAlone = source.pick([true, false, false])
    history.append("up \(mode), down \(downMode)\(isAlone ? ", alone" : "")")
    try await world.begin(&source, mode: mode, downMode: downMode)
    for _ in 0..<Int.random(in: 3...6, using: &source.random) { try await otherCreates() }
    try await down()
    for _ in 0..<Self.steps { try await step() }
    try await finish()
  }

  private func step() async throws {
    switch Int.random(in: (isAlone ? 4 : 0)..<16, using: &source.random) {
    case 0: try await otherCreates()
    case 1, 2: try await otherChanges()
    case 3: try await otherDeletes()
    case 4, 5, 6, 7, 8, 9: try await localChanges()
    case 10: try await localCreates()
    case 11: try await localDeletes()
    case 12, 13: try await up()
    case 14: try await down()
    default: try importUnchanged()
    }
  }

  // MARK: Other clients

  private func members() -> [(name: String, value: PlainJSON)] {
    service.fields.enumerated().compactMap { i, name in
      i == 0 || Int.random(in: 0..<4, using: &source.random) > 0 ? (name, service.value(name, &source)) : nil
    }
  }

  private func otherCreates() async throws {
    let members = members()
    history.append("other creates \(members.map { "\($0.name): \($0.value.canonical)" }.joined(separator: ", "))")
    try await service.create(members)
  }

  private func otherChanges() async throws {
    guard let record = try await service.records().randomElement(using: &source.random) else { return }
    let name = source.pick(service.fields), value = service.value(name, &source)
    history.append("other changes \(record[service.idField]?.canonical ?? ""), \(name.debugDescription): \(value.canonical)")
    try await service.change(record, name, value)
  }

  private func otherDeletes() async throws {
    guard let record = try await service.records().randomElement(using: &source.random) else { return }
    history.append("other deletes \(record[service.idField]?.canonical ?? "")")
    try await service.delete(record)
  }

  // MARK: Local changes

  private enum Way: CaseIterable {
    case upsert, patch, operation, luaChanges, luaCopy, luaUpsert, luaPatch, csv, json, jsonl
  }

  private func editable() throws -> PlainJSON? {
    try world.entries().filter { !$0.isLocallyDeleted }.randomElement(using: &source.random)
  }

  private func localChanges() async throws {
    guard let entry = try editable() else { return }
    let way = source.pick(Way.allCases), name = source.pick(service.fields)
    var value = service.value(name, &source)
    let current = entry[name] ?? .null
    // A file cannot say an infinity.
    let isFile = [.csv, .json, .jsonl].contains(way)
    while isFile, !Self.isFinite(value) { value = service.value(name, &source) }
    if way == .csv, !Self.fitsCell(value, over: current) { return }
    history.append(
      "here, \(way): \(entry[service.idField]?.canonical ?? ""), \(name.debugDescription): \(value.canonical)")
    let before = try world.entries()
    try await apply(way, entry, name, value)
    try check(before, [entry.entryId: [(name, value)]], isScript: "\(way)".hasPrefix("lua"))
    note(entry, name)
  }

  private func note(_ entry: PlainJSON, _ name: String) {
    let id = entry.id(service)
    if let place = service.fields.firstIndex(where: { $0 == name }) { edited[id, default: []].insert(place) }
  }

  private func apply(_ way: Way, _ entry: PlainJSON, _ name: String, _ value: PlainJSON) async throws {
    let id = entry.entryId, flags = "{ __locally_updated__ = true }"
    let key = AwkwardWorld.literal(.text(name)), new = AwkwardWorld.literal(value)
    switch way {
    case .upsert:
      var changed = entry.marked("__locally_updated__")
      changed[name] = value
      try world.save(changed, source.escapes())
    case .patch, .operation:
      let json = try JSONValue(parsing: value.wire(source.escapes()))
      var patch = EntryPatch(.entryId(id), flags: ["__locally_updated__": true])
      if way == .patch { patch.set[name] = json } else { patch.operations = [(name, .set(json))] }
      try world.patch(patch)
    case .luaChanges: try await world.run("assert(await(mobilesync.markUpdated, SOUP, entry(\(id)), { [\(key)] = \(new) }))")
    case .luaCopy:
      try await world.run("local e = entry(\(id)) e[\(key)] = \(new) assert(await(mobilesync.markUpdated, SOUP, e))")
    case .luaUpsert:
      try await world.run(
        """
        local e = entry(\(id))
        e[\(key)], e.__local__, e.__locally_updated__ = \(new), true, true
        assert(await(smartstore.upsertSoupEntries, SOUP, { e }))
        """)
    case .luaPatch:
      try await world.run(
        "assert(await(smartstore.patchSoupEntries, SOUP, { { entryId = \(id), set = { [\(key)] = \(new) }, flags = \(flags) } }))"
      )
    case .csv: try importCSV { file in file.set(id: entry[service.idField], self.service.idField, name, value.cell) }
    case .json, .jsonl:
      try importRecords(way == .json ? .json : .jsonl) { record in
        if record.id(self.service) == entry.id(self.service) { record[name] = value }
      }
    }
  }

  private static func isFinite(_ value: PlainJSON) -> Bool {
    switch value {
    case .number(let digits): Double(digits)?.isFinite ?? false
    case .list(let elements): elements.allSatisfy(isFinite)
    case .object(let members): members.allSatisfy { isFinite($0.value) }
    default: true
    }
  }

  /// Whether a cell can say that a member has this value: its type is that of the value which is there.
  private static func fitsCell(_ value: PlainJSON, over current: PlainJSON) -> Bool {
    switch (value, current) {
    case (.text(let units), .text): !units.isEmpty
    case (.number, .number), (.list, .list): true
    case (.literal, .literal): !value.isNull && !current.isNull
    default: false
    }
  }

  private func localCreates() async throws {
    lastId += 1
    let id = "local_w\(lastId)", members = members()
    var entry = PlainJSON.object([(Array(service.idField.utf16), .text(id))])
    for (name, value) in members { entry[name] = value }
    let way = source.pick([Way.upsert, .luaUpsert, .jsonl]), before = try world.entries()
    history.append("here, \(way): creates \(id), \(members.map { "\($0.name): \($0.value.canonical)" }.joined(separator: ", "))")
    let more = try PlainJSON(parsing: service.newMembers.text)
    switch way {
    case .jsonl where members.allSatisfy({ Self.isFinite($0.value) }):
      let report = try world.files.imported(Array(entry.wire(source.escapes()).utf8), .jsonl)
      #expect(report.problems.isEmpty && report.created == 1, comment("\(report.problems)"))
    case .luaUpsert:
      for (key, value) in more.members { entry[String(decoding: key, as: UTF16.self)] = value }
      try await world.run(
        "assert(await(smartstore.upsertSoupEntries, SOUP, { \(AwkwardWorld.literal(entry.marked("__locally_created__"))) }))")
    default:
      for (key, value) in more.members { entry[String(decoding: key, as: UTF16.self)] = value }
      try world.save(entry.marked("__locally_created__"), source.escapes())
    }
    let made = try world.entries().filter { one in !before.contains { $0.entryId == one.entryId } }
    #expect(
      made.count == 1 && members.allSatisfy { $0.value.means(made[0][$0.name] ?? .null, isScript: way == .luaUpsert) },
      comment("\(made.map(\.canonical))"))
    try check(before, [:])
    for (name, _) in members { if let made = made.first { note(made, name) } }
  }

  private func localDeletes() async throws {
    guard let entry = try editable() else { return }
    history.append("here: deletes \(entry[service.idField]?.canonical ?? "")")
    let before = try world.entries()
    if Bool.random(using: &source.random) {
      try await world.run("assert(await(mobilesync.markDeleted, SOUP, entry(\(entry.entryId))))")
    } else {
      try world.save(entry.marked("__locally_deleted__"), source.escapes())
    }
    try check(before, [:])
  }

  /// Checks that only these members of these entries have changed.
  private func check(
    _ before: [PlainJSON], _ changes: [Int64: [(name: String, value: PlainJSON)]], isScript: Bool = false
  ) throws {
    let after = try world.entries()
    for entry in before {
      guard let now = after.first(where: { $0.entryId == entry.entryId }) else {
        Issue.record(comment("an entry is gone: \(entry.canonical)"))
        continue
      }
      let changed = changes[entry.entryId] ?? []
      for (key, value) in entry.members + now.members {
        let name = String(decoding: key, as: UTF16.self)
        guard !name.hasPrefix("_soup"), !name.hasPrefix("__"), !changed.contains(where: { $0.name == name }) else { continue }
        let stays = (entry[name] ?? .null).canonical == (now[name] ?? .null).canonical
        #expect(
          stays, comment("\(name.debugDescription) was not edited: \(entry.canonical)\n\(now.canonical)\n\(value.canonical)"))
      }
      for (name, value) in changed {
        #expect(
          value.means(now[name] ?? .null, isScript: isScript),
          comment("\(name.debugDescription) must be \(value.canonical): \(now.canonical)"))
      }
    }
  }

  // MARK: Files

  private func importUnchanged() throws {
    history.append("imports what was exported")
    let before = try world.entries(), format = source.pick(ImportFormat.allCases)
    let report = format == .csv ? try importCSV { _ in } : try importRecords(format) { _ in }
    #expect(report.unchanged == report.records && report.updated == 0, comment("\(format): \(report.json.text)"))
    let after = try world.entries()
    #expect(after.map(\.canonical) == before.map(\.canonical), comment("\(format)"))
  }

  @discardableResult
  private func importCSV(_ change: (inout CellFile) -> Void) throws -> ImportReport {
    let exported = try world.files.exported()
    guard !exported.cells.isEmpty else { return ImportReport() }
    var file = CellFile(columns: exported.columns, cells: exported.cells)
    change(&file)
    return try imported(file.bytes, .csv)
  }

  @discardableResult
  private func importRecords(_ format: ImportFormat, _ change: (inout PlainJSON) -> Void) throws -> ImportReport {
    let records = try world.files.exported().records.map { text in
      var record = try PlainJSON(parsing: text)
      let before = record.canonical
      change(&record)
      return record.canonical == before ? text : record.wire(source.escapes())
    }
    let text = format == .json ? "[\(records.joined(separator: ",\n"))]" : records.joined(separator: "\n")
    return try imported(Array(text.utf8), format)
  }

  private func imported(_ bytes: [UInt8], _ format: ImportFormat) throws -> ImportReport {
    let report = try world.files.imported(bytes, format)
    #expect(
      report.problems.isEmpty,
      comment("\(format): \(report.problems)\n\(String(decoding: bytes, as: UTF8.self).debugDescription)"))
    return report
  }

  // MARK: Syncs

  private func down() async throws {
    let state = try await world.manager.reSync(.name("down"))
    history.append("down: \(state.status.rawValue) \(state.error)")
    #expect(state.status == .done, comment(state.error))
    let there = try await service.records(), here = try world.entries()
    for entry in here where !entry.isDirty {
      let id = entry.id(service)
      guard let record = there.first(where: { $0.id(service) == id }) else { continue }
      #expect(service.essence(entry) == service.essence(record), comment("after a sync down"))
    }
    for record in there {
      let id = record.id(service)
      #expect(here.count { $0.id(service) == id } == 1, comment("entries of \(id)"))
    }
  }

  private func up() async throws {
    let before = try await service.records(), entries = try world.entries()
    let state = try await world.manager.reSync(.name("up"))
    history.append("up: \(state.status.rawValue) \(state.error) \(state.counts)")
    let errors = try world.entries().compactMap { $0["__last_error__"]?.plain }
    if isAlone {
      let conflicts = try world.manager.conflicts(inSoup: AwkwardWorld.soup)
      #expect(conflicts.isEmpty, comment("a conflict that nobody else caused: \(conflicts)"))
    }
    #expect(state.status == .done && state.counts.failed == 0, comment("\(state.error) \(state.counts) \(errors)"))
    let after = try await service.records()
    for record in after {
      let id = record.id(service)
      guard let old = before.first(where: { $0.id(service) == id }) else {
        // A record that was deleted there may be made anew.
        let isMine = entries.contains { $0.isDirty && (!service.keepsValues || isSame($0, record)) }
        #expect(isMine, comment("a new record: \(record.canonical)"))
        continue
      }
      let entry = entries.first { $0.id(service) == id }
      for (i, name) in service.fields.enumerated() {
        let value = record[name] ?? .null
        guard (old[name] ?? .null).canonical != value.canonical else { continue }
        let isEdited = edited[id]?.contains(i) ?? false
        let isOurs = service.makes(value, of: entry?[name] ?? .null, name)
        #expect(
          isEdited && (isOurs || !service.keepsValues) || isOurs && mode == "OVERWRITE",
          comment("\(name.debugDescription) of \(id) was \(old[name]?.canonical ?? "") and is \(value.canonical)"))
      }
    }
    if try world.entries().allSatisfy({ !$0.isDirty }) { edited = [:] }
  }

  private func isSame(_ entry: PlainJSON, _ record: PlainJSON) -> Bool {
    service.fields.allSatisfy { (entry[$0] ?? .null).canonical == (record[$0] ?? .null).canonical }
  }

  // MARK: The end

  private func finish() async throws {
    for _ in 0..<Self.patience {
      try await up()
      for conflict in try world.manager.conflicts(inSoup: AwkwardWorld.soup) {
        let isOurs = conflict.server == nil && conflict.kind != .deletedThere || Bool.random(using: &source.random)
        history.append(
          "conflict of \(conflict.local[service.idField]?.text ?? ""), \(conflict.kind): \(isOurs ? "ours" : "theirs")")
        let id = try PlainJSON(parsing: conflict.local.text).id(service)
        if isOurs { edited[id, default: []].formUnion(service.fields.indices) }
        _ = try world.manager.resolveConflict(
          inSoup: AwkwardWorld.soup, entryId: conflict.entryId, with: isOurs ? .local : .server)
      }
      if try world.entries().allSatisfy({ !$0.isDirty }) { break }
    }
    let dirty = try world.entries().filter(\.isDirty).map(\.canonical)
    #expect(dirty.isEmpty, comment("still dirty: \(dirty)"))
    try await down()
    _ = try await world.cleanGhosts()
    let there = try await service.records().map(service.essence).sorted()
    let here = try world.entries().map(service.essence).sorted()
    let differing =
      "here alone:\n\(here.filter { !there.contains($0) }.joined(separator: "\n"))\n"
      + "there alone:\n\(there.filter { !here.contains($0) }.joined(separator: "\n"))"
    #expect(here == there, comment(differing))
    for _ in 0..<2 { try importUnchanged() }
    #expect(try world.entries().allSatisfy { !$0.isDirty }, comment("an import of an export marked an entry"))
  }

  private func comment(_ what: String) -> Comment { "\(label)\n\(what)\n\(history.joined(separator: "\n"))" }
}

extension PlainJSON {
  /// The text of a cell with this value.
  var cell: String { if case .list = self { wire(.few) } else { plain } }

  /// The id of a record. Soups have the text of an id that is a number.
  func id(_ service: any AwkwardService) -> String { PlainJSON.text((self[service.idField] ?? .null).plain).canonical }
}
