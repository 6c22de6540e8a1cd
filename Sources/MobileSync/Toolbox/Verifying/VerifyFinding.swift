import JSON
import SmartStore

/// How thoroughly a soup is compared with what its server would send. Raw values are those of scripts.
public enum VerifyLevel: String, CaseIterable, Sendable {
  /// The number of records. Equal numbers disprove nothing, but prove nothing either.
  case count
  /// The ids and the modification dates.
  case ids
  /// The values of all fields that the target asks for.
  case content
}

/// A record that differs between a soup and its server.
public struct VerifyFinding: Sendable, Equatable {
  /// Why they differ. Raw values are those of scripts.
  public enum Reason: String, CaseIterable, Sendable {
    /// The server would send it, and the soup lacks it. No later run brings it.
    case missing
    /// The soup has it, and the server would not send it.
    case extra
    /// Both have it with different values, and no later run brings the server's.
    case different
    /// The server has a newer version or record, which the next run brings.
    case behind
    /// The server has other values although the modification date is the same.
    case computed
    /// It has local changes that were not sent yet.
    case dirty
    /// It was changed while it was compared.
    case moving

    /// Whether the soup differs from the server: local changes are none, and what moves is not known.
    var isDifference: Bool { self != .dirty && self != .moving }
  }

  public let soupName: String
  /// nil if the soup lacks it.
  public let entryId: Int64?
  public let recordId: String?
  public let reason: Reason
  /// The names of the fields that differ.
  public let fields: [String]
  /// A part of a sentence for people. It has no values of records.
  public let text: String

  /// nil without an entry.
  var ownedEntry: OwnedEntry? { entryId.map { OwnedEntry(entryId: $0, recordId: recordId ?? "") } }

  /// The form that scripts get.
  public var json: JSONObject {
    [
      "soupName": .string(soupName), "entryId": entryId.map { .integer($0) } ?? .null,
      "recordId": recordId.map { .string($0) } ?? .null, "reason": .string(reason.rawValue),
      "fields": .array(fields.map { .string($0) }), "text": .string(text),
    ]
  }
}

/// What a comparison of a soup with its server found.
public struct VerifyResult: Sendable {
  /// What ``SyncManager/verifySync(_:level:repair:max:)`` mended.
  public struct Repair: Sendable, Equatable {
    /// Records that were stored.
    public internal(set) var stored = 0
    /// Entries that were removed.
    public internal(set) var removed = 0
    /// Differences that stay: records with local changes, and entries that no sync brought.
    public internal(set) var left = 0

    var json: JSONValue {
      ["stored": .integer(Int64(stored)), "removed": .integer(Int64(removed)), "left": .integer(Int64(left))]
    }
  }

  public let syncId: Int64
  public let syncName: String?
  public let level: VerifyLevel
  /// Entries of the sync.
  public internal(set) var local = 0
  /// Records that the server would send.
  public internal(set) var server = 0
  /// Records that both have and that were compared.
  public internal(set) var compared = 0
  /// Attempts of requests.
  public internal(set) var requests = 0
  /// A hash of what the soup has of the server: that of another store is the same if it has the same records. nil for
  /// ``VerifyLevel/count``.
  public internal(set) var digest: String?
  /// The first 1,000 of each kind.
  public internal(set) var missing: [VerifyFinding] = []
  public internal(set) var extra: [VerifyFinding] = []
  public internal(set) var different: [VerifyFinding] = []
  /// Extra entries beyond those that ``extra`` lists.
  var unlistedExtra: [(soupName: String, entry: OwnedEntry)] = []
  /// All of them by reason.
  public internal(set) var counts: [VerifyFinding.Reason: Int] = [:]
  /// The mended records; nil without a repair.
  public internal(set) var repair: Repair?

  init(_ state: SyncState, _ level: VerifyLevel) {
    (syncId, syncName, self.level) = (state.id, state.name, level)
  }

  static let listed = 1000

  /// The number of differences.
  public var differences: Int { counts.reduce(0) { $0 + ($1.key.isDifference ? $1.value : 0) } }

  /// Whether everything was compared: false if records were changed meanwhile.
  public var isComplete: Bool { counts[.moving, default: 0] == 0 }

  /// Whether the soup has what the server would send, apart from local changes.
  public var isEqual: Bool { isComplete && differences == 0 }

  mutating func count(_ reason: VerifyFinding.Reason, _ number: Int = 1) {
    if number > 0 { counts[reason, default: 0] += number }
  }

  /// The form that scripts get.
  public var json: JSONObject {
    func list(_ findings: [VerifyFinding]) -> JSONValue { .array(findings.map { .object($0.json) }) }
    var json: JSONObject = [
      "syncName": syncName.map { .string($0) } ?? .null, "syncId": .integer(syncId), "level": .string(level.rawValue),
      "equal": .bool(isEqual), "complete": .bool(isComplete), "local": .integer(Int64(local)), "server": .integer(Int64(server)),
      "compared": .integer(Int64(compared)), "requests": .integer(Int64(requests)), "digest": digest.map { .string($0) } ?? .null,
      "missing": list(missing), "extra": list(extra), "different": list(different),
    ]
    json["counts"] = .object(
      JSONObject(
        VerifyFinding.Reason.allCases.compactMap { reason in
          counts[reason].map { (reason.rawValue, .integer(Int64($0))) }
        }))
    if let repair { json["repaired"] = repair.json }
    return json
  }
}
