import JSON

/// What an update of a target can send of an entry.
package struct SendableMembers: Sendable, Equatable {
  /// The paths of the members; nil if every change is sent.
  package let paths: [[String]]?
  /// Whether a member that was removed from the entry is removed from the record as well.
  package let sendsRemovals: Bool

  package init(paths: [[String]]?, sendsRemovals: Bool) {
    self.paths = paths
    self.sendsRemovals = sendsRemovals
  }

  /// The members that a list of fields names.
  package init(fields: [String], sendsRemovals: Bool = false) {
    self.init(paths: fields.map { $0.split(separator: ".").map(String.init) }, sendsRemovals: sendsRemovals)
  }

  func adding(_ field: String) -> SendableMembers {
    SendableMembers(paths: paths.map { $0 + [[field]] }, sendsRemovals: sendsRemovals)
  }
}

/// The local changes of an entry that an update does not send, because no list names their fields. No store, network or
/// clock.
struct UnsentChanges: Sendable, Equatable {
  /// First-level members.
  let names: [String]
  /// Whether there is nothing else to send.
  let isAll: Bool
  /// Members that the update removes from the record.
  let removed: [String]

  private init(_ names: [String], isAll: Bool, removed: [String] = []) {
    self.names = names
    self.isAll = isAll
    self.removed = removed
  }

  /// The changes of a record that is updated in any case.
  var beside: UnsentChanges { UnsentChanges(names, isAll: false, removed: removed) }

  /// - Parameter base: The base of the entry; nil if unknown: then every member may have changed.
  /// - Returns: nil if the update sends all changes.
  init?(_ entry: JSONObject, base: JSONObject?, _ sendable: SendableMembers, _ fields: TargetFields) {
    guard let base = RecordMerge.base(base, fitting: entry, fields) else {
      guard !sendable.sendsRemovals, let paths = sendable.paths,
        !paths.contains(where: { UnsentChanges.value(entry, $0) != nil })
      else { return nil }
      self.init(entry.keys.filter { !RecordMerge.isBookkeeping($0, fields) }, isAll: true)
      return
    }
    let changed = RecordMerge(base: base, local: entry, server: [:], fields: fields).localChanges
    let removed = base.keys.filter { key in
      entry[key] == nil && base[key]?.isNull == false && !RecordMerge.isBookkeeping(key, fields)
        && (sendable.paths?.contains { $0.first == key } ?? true)
    }
    let left = changed.filter { UnsentChanges.isUnsent($0, entry, base, sendable) }
    let isSending =
      changed.contains { UnsentChanges.isSent($0, entry, base, sendable) } || sendable.sendsRemovals && !removed.isEmpty
    // A member that only the script knows can never be sent, so it holds nothing back that can.
    // Nor can the removal of a member that is not listed; the record has it again after the update.
    let names =
      isSending
      ? left.filter { base[$0] != nil && !UnsentChanges.isRemoval($0, entry, base, sendable) }
      : left + (sendable.sendsRemovals ? [] : removed)
    guard !names.isEmpty else { return nil }
    self.init(names, isAll: !isSending, removed: sendable.sendsRemovals ? removed : [])
  }

  private static func value(_ object: JSONObject, _ path: [String]) -> JSONValue? {
    var value = JSONValue.object(object)
    for (i, key) in path.enumerated() {
      // A path through a list is applied to each of its elements; the whole list stands for them.
      if i > 0, value.arrayValue != nil { return value }
      guard let next = value.objectValue?[key] else { return nil }
      value = next
    }
    return value
  }

  private static func isSent(_ key: String, _ entry: JSONObject, _ base: JSONObject, _ sendable: SendableMembers) -> Bool {
    guard let paths = sendable.paths else { return true }
    return paths.contains { path in
      guard path.first == key, let mine = value(entry, path) else { return false }
      return !RecordMerge.same(mine, value(base, path) ?? .null)
    }
  }

  /// Returns whether a change, or a part of it, is on no path. The fields of a relationship belong to another record.
  private static func isUnsent(_ key: String, _ entry: JSONObject, _ base: JSONObject, _ sendable: SendableMembers) -> Bool {
    guard let paths = sendable.paths, let mine = entry[key] else { return false }
    if mine.isOtherRecord || base[key]?.isOtherRecord ?? false { return false }
    let own = paths.filter { $0.first == key }
    if own.isEmpty { return true }
    return !own.contains { $0.count == 1 } && !RecordMerge.same(mine.removing(own), (base[key] ?? .null).removing(own))
  }

  /// Returns whether the part of a change that is on no path only removes members within an object.
  private static func isRemoval(
    _ key: String, _ entry: JSONObject, _ base: JSONObject, _ sendable: SendableMembers
  ) -> Bool {
    let own = (sendable.paths ?? []).filter { $0.first == key }
    guard !own.isEmpty, let mine = entry[key], let known = base[key] else { return false }
    return mine.removing(own).isPart(of: known.removing(own))
  }
}

extension JSONValue {
  /// Whether the value is a record, or a list of records, that came along with this one.
  fileprivate var isOtherRecord: Bool {
    objectValue.map { $0[LocalField.attributes] != nil || $0["records"] != nil } ?? false
  }

  /// - Parameter paths: Paths whose first part leads to this value.
  fileprivate func removing(_ paths: [[String]]) -> JSONValue { paths.reduce(self) { $0.removing($1.dropFirst()) } }

  /// Whether the value is another one without some members of its objects.
  fileprivate func isPart(of whole: JSONValue) -> Bool {
    guard let own = objectValue, let all = whole.objectValue else { return RecordMerge.same(self, whole) }
    return own.allSatisfy { key, value in all[key].map(value.isPart) ?? false }
  }

  fileprivate func removing(_ path: ArraySlice<String>) -> JSONValue {
    guard let key = path.first else { return .null }
    if let list = arrayValue { return .array(list.map { $0.removing(path) }) }
    guard var members = objectValue, let inner = members[key] else { return self }
    members[key] = path.count == 1 ? nil : inner.removing(path.dropFirst())
    return .object(members)
  }
}

extension UploadResult {
  /// Creates the result of an update that was not sent because no list names the changed fields.
  static func nothingToSend(_ names: [String]) -> UploadResult {
    let list = names.map { "'\($0)'" }.joined(separator: ", ")
    let message =
      names.isEmpty
      ? "nothing to send: the entry has none of the fields that the target's lists name"
      : "nothing to send: no field list sends \(list); the change stays here. Name the fields as the server does"
    var result = UploadResult(isSuccess: false, error: unsentError(names, message))
    result.hasNothingToSend = true
    return result
  }

  /// The text for `__last_error__` of an entry of which a part was sent.
  var unsentText: String {
    let list = unsent.map { "'\($0)'" }.joined(separator: ", ")
    return UploadResult.unsentError(
      unsent, "no field list sends \(list); the other changes were sent, and these stay here"
    ).text
  }

  private static func unsentError(_ names: [String], _ message: String) -> JSONValue {
    [
      "errorCode": "NOTHING_TO_SEND", "statusCode": "NOTHING_TO_SEND", "message": .string(message),
      "fields": .array(names.map { .string($0) }),
    ]
  }
}
