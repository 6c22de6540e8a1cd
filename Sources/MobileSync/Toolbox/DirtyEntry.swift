import JSON
import SmartStore

/// An entry with changes that the server lacks, with the reason why it still has them and the way out.
public struct DirtyEntry: Sendable, Equatable {
  /// Why the changes are not on the server.
  public enum State: String, Sendable, CaseIterable {
    /// They go with the next sync up, if a sync up sends the soup.
    case waiting
    /// A run looked at the entry and did not send it.
    case skipped
    /// Another run is sending the entry.
    case held
    /// Both sides changed it; it is a ``SyncConflict``.
    case conflict
    /// The server refused it.
    case refused
    /// Its creation was sent and not answered: it is looked up on the server before it is sent again.
    case inDoubt
  }

  /// What the next sync up does with the record.
  public enum Action: String, Sendable, CaseIterable { case create, update, delete }

  /// Why an entry is in its state, for programs and for people.
  public struct Reason: Sendable, Equatable {
    public let code: String
    public let text: String

    init(_ code: String, _ text: String) {
      self.code = code
      self.text = text
    }
  }

  /// A field that was changed here.
  public struct Change: Sendable, Equatable {
    public let field: String
    /// The server's last known value; nil if it had none or none is known.
    public let base: JSONValue?
    public let value: JSONValue?
  }

  public let soupName: String
  public let entryId: Int64
  /// The server's id; nil for a record that it does not have yet.
  public internal(set) var recordId: String?
  /// What people call the record; nil if nothing but a local id names it.
  public internal(set) var title: String?
  public let action: Action
  public internal(set) var state: State
  /// The changed fields; of a create those with a value, of a deletion none.
  public internal(set) var fields: [String] = []
  public internal(set) var changes: [Change] = []
  public internal(set) var reason: Reason?
  /// When the server was asked last, in ms since 1970 UTC; nil if that is not known.
  public internal(set) var lastTry: Int64?
  /// Until when a create without an answer waits, in ms since 1970 UTC; nil if nothing ends the doubt.
  public internal(set) var until: Int64?
  /// The sync that sends the soup, that is sending the entry, or that found the conflict; nil if it has no name.
  public internal(set) var syncName: String?
  /// What ends the state: words, or a command.
  public internal(set) var remedies: [String] = []
  /// When the row was last written, in ms since 1970 UTC.
  let writtenAt: Int64?
  /// When it was changed since it was last as the server had it, in ms since 1970 UTC, and by whom; nil if the history does not
  /// say so.
  public internal(set) var since: Int64?
  public internal(set) var by: HistoryActor?
  /// How often the last runs have left it in this state; nil if the history does not say so.
  public internal(set) var runs: Int?
  /// When the conflict was found, in ms since 1970 UTC; nil without one.
  public internal(set) var detectedAt: Int64?

  /// The form that scripts get.
  public var json: JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    func number(_ value: Int64?) -> JSONValue { value.map { .integer($0) } ?? .null }
    return [
      "soupName": .string(soupName), "entryId": .integer(entryId), "recordId": text(recordId), "title": text(title),
      "action": .string(action.rawValue), "state": .string(state.rawValue), "fields": .array(fields.map { .string($0) }),
      "since": number(since), "by": by.map { .object($0.json()) } ?? .null,
      "reason": reason.map { ["code": .string($0.code), "text": .string($0.text)] } ?? .null,
      "runs": number(runs.map { Int64($0) }),
      "lastTry": number(lastTry), "until": number(until), "syncName": text(syncName),
      "remedies": .array(remedies.map { .string($0) }),
    ]
  }

  /// The form with the values of the changed fields.
  public var jsonWithValues: JSONObject {
    var json = json
    json["values"] = .array(
      changes.map { ["name": .string($0.field), "base": $0.base ?? .null, "value": $0.value ?? .null] })
    return json
  }
}
