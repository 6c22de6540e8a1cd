import JSON
import SmartStore

/// What becomes of one relation column of an owner: the net difference of links, so that no id is both added and removed. The
/// server runs the two parts at the same time.
struct RelationChange: Sendable, Equatable {
  let field: String
  /// Of the targets.
  let className: String
  private(set) var added: Set<String> = []
  private(set) var removed: Set<String> = []

  init(field: String, className: String) {
    self.field = field
    self.className = className
  }

  /// The links that lead from one set of targets to another.
  init(field: String, className: String, from before: Set<String>, to after: Set<String>) {
    self.init(field: field, className: className)
    added = after.subtracting(before)
    removed = before.subtracting(after)
  }

  /// The last word about an id counts.
  mutating func link(_ id: String) {
    removed.remove(id)
    added.insert(id)
  }

  mutating func unlink(_ id: String) {
    added.remove(id)
    removed.insert(id)
  }

  /// Targets that have no id of the server yet; they are left out of ``operation``.
  var waiting: [String] { added.union(removed).filter(Self.isLocal).sorted() }

  /// nil when there is nothing to send: an empty list makes the server fail.
  var operation: JSONValue? {
    let parts = [part("AddRelation", added), part("RemoveRelation", removed)].compactMap { $0 }
    return parts.count > 1 ? ["__op": "Batch", "ops": .array(parts)] : parts.first
  }

  /// The same with targets that have no id of the server yet, for those who put the ids in later.
  var wholeOperation: JSONValue? {
    let parts = [part("AddRelation", added, withLocal: true), part("RemoveRelation", removed, withLocal: true)].compactMap { $0 }
    return parts.count > 1 ? ["__op": "Batch", "ops": .array(parts)] : parts.first
  }

  private func part(_ name: String, _ ids: Set<String>, withLocal: Bool = false) -> JSONValue? {
    let pointers = ids.filter { withLocal || !Self.isLocal($0) }.sorted().map {
      ParsePointer(className: className, objectId: $0).json
    }
    return pointers.isEmpty ? nil : ["__op": .string(name), "objects": .array(pointers)]
  }

  private static func isLocal(_ id: String) -> Bool { id.hasPrefix(SoupField.localIdPrefix) }

  /// The body of the one PUT that an owner gets for all its relation columns; nil when none of them has changed.
  static func body(_ changes: [RelationChange]) -> JSONObject? {
    let members = changes.compactMap { change in change.operation.map { (change.field, $0) } }
    return members.isEmpty ? nil : JSONObject(members)
  }
}
