import JSON

/// How a person decides conflicts, as a whole or field by field. No store and no network.
package struct ConflictDecision: Sendable {
  package enum Side: String, Sendable, CaseIterable {
    /// The local changes win; what only the server changed comes in.
    case mine
    /// The server's version wins, and all local changes are lost.
    case theirs
    /// Each side keeps what it alone changed; the server wins where both did.
    case merge
  }

  /// The conflict cannot be decided this way, and stays.
  package struct Refusal: Error, Sendable {
    package let text: String
  }

  package let side: Side
  /// The fields that are decided by themselves, and whether the server's value wins.
  package let fields: [(name: String, isTheirs: Bool)]

  package init(side: Side, fields: [(name: String, isTheirs: Bool)]) {
    self.side = side
    self.fields = fields
  }

  /// Says what is lost; nil if no local change is.
  /// - Parameter count: The number of entries.
  package func loss(_ count: Int) -> String? {
    let noun = count == 1 ? "1 entry" : "\(count) entries"
    switch side {
    case .theirs where fields.isEmpty: return "The server's version wins, and all local changes are lost, in \(noun)"
    case .theirs, .merge: return "Local changes are lost in \(noun)"
    case .mine:
      let lost = fields.filter(\.isTheirs).map(\.name)
      return lost.isEmpty ? nil : "The server's value of \(lost.joined(separator: ", ")) replaces the local one in \(noun)"
    }
  }

  /// Returns the arguments of `resolveConflict` that say how.
  /// - Parameter conflict: An element of the result of `getConflicts`.
  /// - Throws: ``Refusal``; the conflict stays then.
  package func arguments(_ conflict: JSONValue) throws(Refusal) -> JSONObject {
    guard !fields.isEmpty || side == .merge else { return ["resolution": side == .mine ? "local" : "server"] }
    guard conflict["kind"]?.stringValue == "changed" else {
      throw Refusal(text: "\(Self.description(of: conflict)); decide with --mine or --theirs")
    }
    func names(_ key: String) -> [String] { (conflict[key]?.arrayValue ?? []).compactMap(\.stringValue) }
    let inConflict = names("fields"), changedHere = names("localChanges"),
      known = inConflict + changedHere + names("remoteChanges")
    if let unknown = fields.first(where: { !known.contains($0.name) }) {
      throw Refusal(text: "neither side changed '\(unknown.name)'")
    }
    var record = JSONObject()
    // The server's side of a field, or what it was before the local change.
    func theirs(_ name: String) -> JSONValue { conflict["server"]?[name] ?? conflict["base"]?[name] ?? .null }
    switch side {
    case .mine: break
    case .merge: for name in inConflict { record[name] = theirs(name) }
    case .theirs: for name in inConflict + changedHere { record[name] = theirs(name) }
    }
    for (name, isTheirs) in fields { record[name] = isTheirs ? theirs(name) : conflict["local"]?[name] ?? .null }
    return ["record": .object(record)]
  }

  /// Says what both sides did.
  /// - Parameter conflict: An element of the result of `getConflicts`.
  package static func description(of conflict: JSONValue) -> String {
    let names = (conflict["fields"]?.arrayValue ?? []).compactMap(\.stringValue)
    return switch conflict["kind"]?.stringValue {
    case "deletedHere": "deleted here, changed on the server"
    case "deletedThere": "changed here, deleted on the server"
    case "unknown": "both sides changed it, and the server's version is not known"
    default: names.isEmpty ? "both sides changed it" : "both sides changed \(names.joined(separator: ", "))"
    }
  }
}
