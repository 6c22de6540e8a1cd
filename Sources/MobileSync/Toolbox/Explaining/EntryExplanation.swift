import JSON
import SmartStore

/// Why a record looks as it does, and what the next syncs do with it.
public struct EntryExplanation: Sendable {
  /// Whether an entry is as the server has it.
  public enum State: String, Sendable {
    case clean, removed, unknown
    case waiting, skipped, held, conflict, refused, inDoubt
  }

  /// What a sync will do with the entry.
  public struct Next: Sendable {
    let syncName: String?
    let expect: Expectation
    let text: String
  }

  public enum Expectation: String, Sendable { case send, conflict, wait, skip, blocked, none }

  /// Something that happened to the entry.
  public struct Line: Sendable {
    var at: Int64
    var run: Int64?
    var syncName: String?
    var by: HistoryActor?
    var version: Int64
    var cause: String
    var reason: String?
    var fields: [String]?
    var changes: [(name: String, from: JSONValue?, to: JSONValue?)] = []
    /// How often it happened in a row.
    var times = 1
    /// Whether the history says so; false for a guess from the times of runs.
    var isCertain = true
    var text = ""
  }

  /// A member, and where its value comes from.
  public struct Field: Sendable {
    let name: String
    let value: JSONValue
    var base: JSONValue?
    var server: JSONValue?
    var origin: Origin
  }

  public struct Origin: Sendable {
    enum Kind: String { case server, local, merge, resolver, policy, discard, repair, unknown }

    var kind = Kind.unknown
    var run: Int64?
    var at: Int64?
    var by: HistoryActor?
    var isCertain = true
  }

  public let soupName: String
  public internal(set) var entryId: Int64?
  public internal(set) var recordId: String?
  public internal(set) var title: String?
  public internal(set) var state = State.unknown
  /// One sentence that says it all.
  public internal(set) var text = ""
  public internal(set) var why: [DirtyEntry.Reason] = []
  /// The syncs that bring the record.
  public internal(set) var owners: [String] = []
  public internal(set) var next: [Next] = []
  /// What happened, newest first.
  public internal(set) var log: [Line] = []
  public internal(set) var fields: [Field] = []
  let level: HistoryLevel

  init(_ soupName: String, _ level: HistoryLevel) {
    self.soupName = soupName
    self.level = level
  }

  /// The form that scripts get.
  public var json: JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    return [
      "history": .string(level.rawValue), "soupName": .string(soupName),
      "entryId": entryId.map { .integer($0) } ?? .null, "recordId": text(recordId), "title": text(title),
      "state": .string(state.rawValue), "text": .string(self.text),
      "why": .array(why.map { ["code": .string($0.code), "text": .string($0.text)] }),
      "owners": .array(owners.map { .string($0) }), "next": .array(next.map { .object($0.json) }),
      "log": .array(log.map { .object($0.json) }), "fields": .array(fields.map { .object($0.json) }),
    ]
  }
}

extension EntryExplanation.Next {
  var json: JSONObject {
    ["syncName": syncName.map { .string($0) } ?? .null, "expect": .string(expect.rawValue), "text": .string(text)]
  }
}

extension EntryExplanation.Line {
  var json: JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    return [
      "at": .integer(at), "run": run.map { .integer($0) } ?? .null, "syncName": text(syncName),
      "by": by.map { .object($0.json()) } ?? .null, "version": .integer(version), "cause": .string(cause), "reason": text(reason),
      "fields": fields.map { .array($0.map { .string($0) }) } ?? .null,
      "changes": .array(changes.map { ["name": .string($0.name), "from": $0.from ?? .null, "to": $0.to ?? .null] }),
      "times": .integer(Int64(times)), "certain": .bool(isCertain), "text": .string(self.text),
    ]
  }
}

extension EntryExplanation.Field {
  var json: JSONObject {
    [
      "name": .string(name), "value": value, "base": base ?? .null, "server": server ?? .null,
      "from": [
        "kind": .string(origin.kind.rawValue), "run": origin.run.map { .integer($0) } ?? .null,
        "at": origin.at.map { .integer($0) } ?? .null, "by": origin.by.map { .object($0.json()) } ?? .null,
        "certain": .bool(origin.isCertain),
      ],
    ]
  }
}
