import JSON
import SmartStore
import Support

/// Explains one entry within a snapshot.
struct Explainer {
  private let look: StoreLook
  private let snapshot: StoreSnapshot
  private let now: Int64
  private let history: HistoryReader
  private let dirty: DirtyReader
  private let soup: String
  private let uploads: SoupUploads

  /// Lines of the log that are read and told.
  private static let mostRows = 1000, mostLines = 36

  init(_ look: StoreLook, _ snapshot: StoreSnapshot, soup: String) throws {
    (self.look, self.snapshot, self.soup) = (look, snapshot, soup)
    now = look.now()
    history = try HistoryReader(snapshot, now: now)
    dirty = try DirtyReader(look, snapshot)
    uploads = SoupUploads(dirty.syncs, look.targets)
  }

  private var fields: TargetFields { uploads.fields(of: soup) }

  // MARK: Finding

  func explain(entry id: Int64) throws -> EntryExplanation {
    let number = try snapshot.soupNumber(of: soup)
    let rows = try log("soup = ? AND entry = ?", [.integer(number), .integer(id)])
    guard let entry = try snapshot.entry(id, in: soup) else { return try gone(id, rows) }
    return try explain(entry, rows)
  }

  func explain(recordId: String) throws -> EntryExplanation {
    let found = try snapshot.entryIds(in: soup, where: fields.id, equals: .text(recordId))
    if let id = found.first { return try explain(entry: id) }
    let number = try snapshot.soupNumber(of: soup)
    let rows = try log("soup = ? AND recordId = ?", [.integer(number), .text(recordId)])
    guard let id = rows.first?.integers[4] else {
      var unknown = EntryExplanation(soup, look.level)
      unknown.recordId = recordId
      unknown.text = "\(recordId) is not in the soup '\(soup)', and the history does not say whether it ever was: not recorded."
      return unknown
    }
    return try explain(entry: id)
  }

  private func log(_ condition: String, _ values: [SQLValue]) throws -> [HistoryRow] {
    try snapshot.history(HistoryQuery(.log, where: condition, values, newestFirst: true, limit: Self.mostRows))
  }

  private func story(_ rows: [HistoryRow], _ unsent: [String: (from: JSONValue?, to: JSONValue?)]) throws -> EntryStory {
    let runs = try history.runs(numbered: Set(rows.compactMap { $0.integers[1] }))
    return EntryStory(
      rows, actor: history.actor, syncName: { $0.flatMap { runs[$0] }.map { $0.name ?? "sync \($0.syncId)" } }, unsent: unsent)
  }

  // MARK: A removed entry

  private func gone(_ id: Int64, _ rows: [HistoryRow]) throws -> EntryExplanation {
    var told = EntryExplanation(soup, look.level)
    let story = try story(rows, [:])
    (told.entryId, told.log) = (id, Array(story.lines.prefix(Self.mostLines)))
    told.recordId = rows.compactMap { $0.texts[3] }.first
    let name = told.recordId ?? "entry \(id)"
    guard let line = story.last("removed", "uploaded", "discarded", "resolved") else {
      told.text = "\(name) is not in the soup '\(soup)', and the history does not say why: not recorded."
      return told
    }
    told.state = .removed
    let when = AgoText.text(line.at, now: now)
    let how =
      switch (line.cause, line.reason) {
      case ("removed", "ghost"): "left with \(with(line)), \(when): the server no longer sends it"
      case ("removed", "deletedThere"): "left with \(with(line)), \(when): it was deleted on the server"
      case ("removed", "discarded"), ("discarded", _): "was dropped with its changes by \(EntryStory.who(line)) \(when)"
      case ("removed", _): "was removed by \(EntryStory.who(line)) \(when)"
      case ("resolved", _): "left \(when): its conflict was resolved with the server's deletion"
      default: "was deleted here, and \(EntryStory.who(line)) deleted it on the server \(when)"
      }
    told.text = "\(name) \(how)."
    return told
  }

  /// `run 41, ghosts`
  private func with(_ line: EntryExplanation.Line) -> String {
    guard let run = line.run else { return EntryStory.who(line) }
    let isGhosts = (try? history.runs(numbered: [run]))?[run]?.kind == .ghosts
    return "run \(run)\(isGhosts ? ", ghosts" : "") of \(line.syncName ?? "a sync")"
  }

  // MARK: An entry

  private func explain(_ entry: StoredEntry, _ rows: [HistoryRow]) throws -> EntryExplanation {
    let object = try entry.object()
    var told = EntryExplanation(soup, look.level)
    told.entryId = entry.id
    told.recordId = fields.id(of: object).flatMap { $0.isEmpty || $0.hasPrefix(LocalField.localIdPrefix) ? nil : $0 }
    told.title = RecordTitle.title(of: object) ?? told.recordId
    told.owners = try owners(of: entry.id, object)
    let found = try dirty.entry(entry.id, in: soup), conflict = try snapshot.syncConflict(entry.id, in: soup)
    let unsent = Dictionary(
      (found?.changes ?? []).map { ($0.field, (from: $0.base, to: $0.value)) }, uniquingKeysWith: { first, _ in first })
    var story = try story(rows, unsent)
    if let arrival = try arrival(of: entry, object, story) { story.insert(arrival) }
    told.log = Array(story.lines.prefix(Self.mostLines))
    told.state = found.flatMap { EntryExplanation.State(rawValue: $0.state.rawValue) } ?? .clean
    if let reason = found?.reason { told.why = [reason] }
    told.fields = members(object, found, conflict, story)
    told.next = try next(found, object, story)
    told.text = ExplainedText(told: told, dirty: found, story: story, now: now, fields: fields).sentence
    return told
  }

  private func owners(of id: Int64, _ object: JSONObject) throws -> [String] {
    let own = object[LocalField.syncId]?.integerValue
    let others = try snapshot.otherOwners(of: id, than: own ?? 0, in: soup)
    return ([own].compactMap { $0 } + others).compactMap { id in uploads.sync(id).map { $0.name ?? "sync \(id)" } }
  }

  /// Returns the line of the run that brought the entry as it is; nil if the log has it already, or no run fits.
  private func arrival(
    of entry: StoredEntry, _ object: JSONObject, _ story: EntryStory
  ) throws -> EntryExplanation.Line? {
    guard let owner = object[LocalField.syncId]?.integerValue, story.last("created") == nil else { return nil }
    let first = try createdAt(entry.id)
    let isWritten = !object.hasFlag(LocalField.local) && story.lines.isEmpty && entry.version > 1
    let time = isWritten ? object[SoupField.lastModified]?.integerValue : first
    guard let time, let (run, isCertain) = try history.run(of: owner, holding: time) else { return nil }
    var line = EntryExplanation.Line(
      at: time, run: run, syncName: uploads.sync(owner)?.name, version: isWritten ? entry.version : 1,
      cause: isWritten ? "updated" : "loaded", reason: nil, fields: nil)
    line.isCertain = isCertain
    return line
  }

  /// When the row was added, in ms since 1970 UTC.
  private func createdAt(_ id: Int64) throws -> Int64? {
    let sql = "SELECT {\(soup):_soupCreatedDate} FROM {\(soup)} WHERE {\(soup):_soupEntryId} = \(id)"
    let rows = try snapshot.namedRows(.smart(sql), pageIndex: 0)
    return try JSONValue(parsing: rows.text).arrayValue?.first?.arrayValue?.first?.integerValue
  }

  // MARK: Fields

  private func members(
    _ object: JSONObject, _ found: DirtyEntry?, _ conflict: SyncConflict?, _ story: EntryStory
  ) -> [EntryExplanation.Field] {
    let changed = IdSet((found?.changes ?? []).map(\.field))
    return object.filter { !RecordMerge.isBookkeeping($0.key, fields) }.map { name, value in
      var field = EntryExplanation.Field(name: name, value: value, origin: EntryExplanation.Origin())
      field.server = conflict?.server?[name]
      if changed.contains(name) {
        field.base = found?.changes.first { $0.field == name }?.base
        let edit = story.edit(of: name)
        field.origin = EntryExplanation.Origin(kind: .local, at: edit?.at, by: edit?.by, isCertain: edit != nil)
      } else {
        field.origin = origin(of: name, story)
      }
      return field
    }
  }

  private func origin(of name: String, _ story: EntryStory) -> EntryExplanation.Origin {
    let causes = ["created", "updated", "merged", "resolved", "discarded", "repaired", "loaded", "adopted"]
    let line = story.lines.first { causes.contains($0.cause) && ($0.fields?.contains(name) ?? true) }
    guard let line else { return EntryExplanation.Origin() }
    let kind: EntryExplanation.Origin.Kind =
      switch line.cause {
      case "merged": .merge
      case "resolved": ["mine", "theirs", "merge"].contains(line.reason) ? .merge : line.reason == "policy" ? .policy : .resolver
      case "discarded": .discard
      case "repaired": .repair
      case "created": .local
      case "updated" where line.run == nil: .local
      default: .server
      }
    return EntryExplanation.Origin(kind: kind, run: line.run, at: line.at, by: line.by, isCertain: line.isCertain)
  }

  // MARK: Next

  private func next(
    _ found: DirtyEntry?, _ object: JSONObject, _ story: EntryStory
  ) throws -> [EntryExplanation.Next] {
    guard let found else { return [] }
    guard let sender = uploads.sender(of: soup) else {
      return [EntryExplanation.Next(syncName: nil, expect: .none, text: "no sync up sends the soup '\(soup)'")]
    }
    let name = sender.sync.name ?? "sync \(sender.sync.id)"
    let (expect, text) = try expectation(found, object, story, sender)
    return [EntryExplanation.Next(syncName: sender.sync.name, expect: expect, text: "\(name) \(text)")]
  }

  private func expectation(
    _ found: DirtyEntry, _ object: JSONObject, _ story: EntryStory, _ sender: SoupUploads.Sender
  ) throws -> (EntryExplanation.Expectation, String) {
    let what = ExplainedText.change(found)
    switch found.state {
    case .conflict: return (.conflict, "leaves it: decide the conflict first")
    case .held: return (.none, "is sending it")
    case .inDoubt:
      guard let until = found.until, until > now else { return (.wait, "searches for its record first") }
      return (.wait, "searches for its record, and sends nothing of it before \(TimeStamp.text(until))")
    case .skipped where sender.family != nil: return (.skip, "skips it again")
    case .waiting, .skipped, .refused:
      if found.action == .update, try isUnlisted(found.entryId, object, sender) {
        return (.skip, "skips it: no field list sends \(what)")
      }
      guard found.state == .refused else { return (.send, "sends \(what)") }
      let isHopeless = ExplainedText.isLikelyRefusedAgain(story)
      return (.send, "sends \(what) again" + (isHopeless ? " and is refused again" : ""))
    }
  }

  /// Whether no list of the sync up names a changed field.
  private func isUnlisted(_ id: Int64, _ object: JSONObject, _ sender: SoupUploads.Sender) throws -> Bool {
    guard sender.family == nil, sender.sync.soupName.hasSameBytes(as: soup),
      let target = try? look.targets.up(sender.sync.target)
    else { return false }
    let plan = target.settings.plan(fieldlist: sender.sync.options.fieldlist)
    guard plan.update != nil else { return false }
    let base = try snapshot.baseObjects(of: [id], in: soup)[id]
    return UnsentChanges(object, base: base, target.sendable(plan), plan.fields)?.isAll ?? false
  }
}

extension StoreLook {
  /// Explains an entry: whether it is as the server has it, why, and what happened to it.
  /// - Throws: `StoreError` `.noSuchSoup`.
  public func explain(entry id: Int64, in soup: String) throws -> EntryExplanation {
    try store.readBlocking { try explain(entry: id, in: soup, $0) }
  }

  func explain(entry id: Int64, in soup: String, _ snapshot: StoreSnapshot) throws -> EntryExplanation {
    guard try snapshot.soupExists(soup) else { throw StoreError.noSuchSoup(soup) }
    return try Explainer(self, snapshot, soup: soup).explain(entry: id)
  }

  /// Explains a record by the server's id; also one that has left the soup.
  /// - Throws: `StoreError` `.noSuchSoup`.
  public func explain(recordId: String, in soup: String) throws -> EntryExplanation {
    try store.readBlocking { snapshot in
      guard try snapshot.soupExists(soup) else { throw StoreError.noSuchSoup(soup) }
      return try Explainer(self, snapshot, soup: soup).explain(recordId: recordId)
    }
  }
}

/// How long ago something was, for people.
package enum AgoText {
  /// `just now`, `35 min ago`, `14 h ago`, `3 days ago`
  /// - Parameters:
  ///   - time: Ms since 1970 UTC.
  ///   - now: The same.
  package static func text(_ time: Int64, now: Int64) -> String {
    let minutes = max(0, now - time) / 60_000
    switch minutes {
    case ..<1: return "just now"
    case ..<120: return "\(minutes) min ago"
    case ..<(48 * 60): return "\(minutes / 60) h ago"
    default: return "\(minutes / 1440) days ago"
    }
  }
}
