import JSON
import SmartStore

/// What an upload sent of an entry, as the history keeps it. No store, network or clock.
struct SentStory: Sendable {
  /// The changed members that were sent; nil for all.
  private(set) var fields: [String]?
  /// JSON texts of the sent members, as the server had them and as they were sent; of a deletion the whole entry.
  private(set) var before: [UInt8]?
  private(set) var sent: [UInt8]?

  /// Tells an update.
  /// - Parameters:
  ///   - base: The server's last known version; nil if none is known.
  ///   - names: The paths that the update sends; nil for all members.
  init(update entry: JSONObject, base: JSONObject?, _ names: [String]?, _ fields: TargetFields) {
    let listed = names.map(ListedMembers.init)
    let base = RecordMerge.base(base, fitting: entry, fields)
    let changed = entry.keys.filter { key in
      guard listed?.contain(key) ?? true, !RecordMerge.isBookkeeping(key, fields) else { return false }
      guard let base else { return true }
      return !RecordMerge.same(entry[key] ?? .null, base[key] ?? .null)
    }
    self.fields = changed
    sent = JSONObject(changed.compactMap { key in entry[key].map { (key, $0) } }).serialized()
    before = base.map { base in JSONObject(changed.compactMap { key in base[key].map { (key, $0) } }).serialized() }
  }

  /// Tells any other upload.
  init(_ action: UploadAction, of i: Int, in batch: DirtyBatch) {
    switch action {
    case .create, .upsert: sent = batch.body(i, action)
    case .delete: before = batch.text(i)
    case .update, .removeLocally, .nothing: break
    }
  }
}

/// The first-level members of a list of paths. Most lists are short, and comparing is then faster than hashing.
private struct ListedMembers {
  private let few: [String]
  private let many: IdSet?

  init(_ paths: [String]) {
    few = paths.map { path in path.utf8.contains(UInt8(ascii: ".")) ? String(path.prefix { $0 != "." }) : path }
    many = few.count > 16 ? IdSet(few) : nil
  }

  func contain(_ key: String) -> Bool { many?.contains(key) ?? few.contains { $0.hasSameBytes(as: key) } }
}

extension StoreTransaction {
  /// Adds the answer to an upload to the history.
  /// - Parameters:
  ///   - entry: The row before it was written.
  ///   - object: Its members.
  ///   - story: Returns what was sent; nil if that is not known.
  func note(
    _ answer: UploadAnswer, _ entry: StoredEntry?, _ object: JSONObject?, _ change: RowChange, in soup: String,
    _ fields: TargetFields, _ story: (() -> SentStory?)?
  ) throws {
    guard history != nil, let entry, let found = EntryChange.Cause(answer) else { return }
    var version = entry.version
    if case .patch = change { version += 1 }
    let result = answer.result, recordId = result.id ?? object.flatMap(fields.id(of:))
    var told = EntryChange(found, entry.id, version: version, recordId: recordId)
    switch found {
    case .uploaded, .adopted:
      let story = story?()
      (told.fields, told.before, told.sent) = (story?.fields, story?.before, story?.sent)
    case .refused:
      let note = ErrorNote(result)
      told.reason = note.map { $0.code.isEmpty || $0.text.hasPrefix($0.code) ? $0.text : "\($0.code): \($0.text)" }
      told.fields = note?.fields.isEmpty == false ? note?.fields : nil
    case .skipped:
      let note = ErrorNote(result)
      told.reason = answer.skipReason
      told.fields = note?.fields.isEmpty == false && !answer.isHeld ? note?.fields : nil
    case .removed: told.reason = RemovedEntry.Reason.script.rawValue
    default: break
    }
    try self.note(told, in: soup)
    guard found == .uploaded, !result.unsent.isEmpty else { return }
    try self.note(
      EntryChange(.skipped, entry.id, version: version, reason: SkipReason.fieldNotListed, fields: result.unsent), in: soup)
  }

  /// Adds that entries were not sent.
  func noteSkipped(_ ids: [Int64], because reason: String, in soup: String) throws {
    guard history != nil, !ids.isEmpty else { return }
    let versions = try versions(of: ids, in: soup)
    for id in ids {
      guard let version = versions[id] else { continue }
      try note(EntryChange(.skipped, id, version: version, reason: reason), in: soup)
    }
  }

  /// Adds that creates have no answer.
  func noteInDoubt(_ ids: [Int64], in soup: String) throws {
    guard history != nil, !ids.isEmpty else { return }
    let versions = try versions(of: ids, in: soup)
    for id in ids { try note(EntryChange(.inDoubt, id, version: versions[id] ?? 0), in: soup) }
  }
}

/// Why an entry was not sent.
enum SkipReason {
  static let nothingToSend = "nothingToSend", fieldNotListed = "fieldNotListed", held = "heldByOtherRun"
  static let preconditionFailed = "preconditionFailed", parentMissing = "parentMissing", parentNotSent = "parentNotSent"
  /// The code of a child whose parent is nowhere.
  static let parentMissingCode = "PARENT_MISSING"
}

extension ErrorNote {
  fileprivate init?(_ result: UploadResult) { self.init([LocalField.lastError: .string(result.errorText)]) }
}

extension UploadAnswer {
  /// Why nothing was sent; nil if something was.
  var skipReason: String? {
    if isHeld { return SkipReason.held }
    guard let note = ErrorNote(result) else { return nil }
    if note.code == SkipReason.parentMissingCode { return SkipReason.parentMissing }
    guard result.hasNothingToSend else { return nil }
    return note.fields.isEmpty ? SkipReason.nothingToSend : SkipReason.fieldNotListed
  }
}

extension EntryChange.Cause {
  /// nil for an answer that another step tells, or that changes nothing.
  fileprivate init?(_ answer: UploadAnswer) {
    switch (answer.outcome, answer.sent.action) {
    case (.succeeded, .nothing), (.recreate, _), (.conflicting, _): return nil
    case (.succeeded, .removeLocally): self = .removed
    case (.succeeded, _): self = answer.result.isFound ? .adopted : .uploaded
    case (.inDoubt, _): self = .inDoubt
    case (.skipped, _):
      guard answer.skipReason != nil else { return nil }
      self = .skipped
    case (.failed, _): self = answer.skipReason == SkipReason.parentMissing ? .skipped : .refused
    }
  }
}
