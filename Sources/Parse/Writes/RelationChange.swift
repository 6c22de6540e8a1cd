import JSON
import SmartStore

/// The net changes of one relation column of an owner. No id is both added and removed, because the
/// server applies both parts concurrently.
struct RelationChange: Sendable, Equatable {
  let field: String
  /// The class of the related objects.
  let className: String
  private(set) var added: IdSet = []
  private(set) var removed: IdSet = []

  init(field: String, className: String) {
    self.field = field
    self.className = className
  }

  /// The changes from one set of related ids to another.
  init(field: String, className: String, from before: IdSet, to after: IdSet) {
    self.init(field: field, className: className)
    added = after.subtracting(before)
    removed = before.subtracting(after)
  }

  /// The last change of an id applies.
  mutating func link(_ id: String) {
    removed.remove(id)
    added.insert(id)
  }

  mutating func unlink(_ id: String) {
    added.remove(id)
    removed.insert(id)
  }

  /// Related ids that are still local; ``operation`` omits them.
  var waiting: [String] { added.union(removed).filter(Self.isLocal).sorted() }

  /// The operation to send; nil if there is nothing to send, because the server fails for an empty
  /// list.
  var operation: JSONValue? {
    let parts = [part("AddRelation", added), part("RemoveRelation", removed)].compactMap { $0 }
    return parts.count > 1 ? ["__op": "Batch", "ops": .array(parts)] : parts.first
  }

  /// The operation including local ids, for callers that resolve them later.
  var wholeOperation: JSONValue? {
    let parts = [part("AddRelation", added, withLocal: true), part("RemoveRelation", removed, withLocal: true)].compactMap { $0 }
    return parts.count > 1 ? ["__op": "Batch", "ops": .array(parts)] : parts.first
  }

  private func part(_ name: String, _ ids: IdSet, withLocal: Bool = false) -> JSONValue? {
    let pointers = ids.filter { withLocal || !Self.isLocal($0) }.sorted().map {
      ParsePointer(className: className, objectId: $0).json
    }
    return pointers.isEmpty ? nil : ["__op": .string(name), "objects": .array(pointers)]
  }

  private static func isLocal(_ id: String) -> Bool { id.hasPrefix(SoupField.localIdPrefix) }

  /// Returns the body of one PUT with all relation columns of an owner; nil if none has changed.
  static func body(_ changes: [RelationChange]) -> JSONObject? {
    let members = changes.compactMap { change in change.operation.map { (change.field, $0) } }
    return members.isEmpty ? nil : JSONObject(members)
  }
}
