import JSON
import RestClient
import SmartStore
import Support

/// What a sync up would send, entry by entry and request by request. Nothing was sent.
public struct SyncPlan: Sendable {
  /// The version of the form.
  public static let format = "tureen-plan/1"

  /// Identifies the plan: it is applied once.
  public let id: String
  /// When it was made, in ms since 1970 UTC.
  public let madeAt: Int64
  /// Whether the server was asked about the records.
  public let looked: Bool
  /// What is not planned, in sentences for people.
  public let unknown: [String]
  let actor: HistoryActor
  let place: PlanPlace
  let mergeMode: MergeMode
  let items: [PlannedItem]
  let requests: [PlannedRequest]
  /// Whether functions of a script make the requests, so that they are not known.
  let hasOpaqueRequests: Bool
  /// Whether the form has hashes in place of values.
  let hidesValues: Bool

  /// How many requests of the server would be calls that an org counts; nil if that is not known.
  public var apiCalls: Int? {
    hasOpaqueRequests || requests.contains { $0.server != nil } ? nil : requests.count
  }
}

/// What a plan belongs to.
struct PlanPlace: Sendable, Equatable {
  /// The org and user, or the connection.
  let server: JSONObject
  let storeId: String
  let storeName: String
  let isGlobal: Bool
  let syncId: Int64
  let syncName: String?
  /// A hash of the sync's definition.
  let definition: String

  init(_ state: SyncState, of store: Store, id: String, server: JSONObject) throws {
    self.server = server
    storeId = id
    storeName = store.name
    isGlobal = store.isGlobal
    syncId = state.id
    syncName = state.name
    let text = JSONValue.object([
      "type": .string(state.type.rawValue), "soupName": .string(state.soupName), "target": .object(state.target),
      "options": .object(state.options.json),
    ]).text
    definition = "sha256:" + (try Digest.sha256Hex(text))
  }

  static func == (a: PlanPlace, b: PlanPlace) -> Bool { a.members == b.members }
}

// MARK: - The form that scripts get

extension PlanPlace {
  /// The members of a plan that say what it belongs to.
  var members: JSONObject {
    [
      "server": .object(server),
      "store": ["id": .string(storeId), "storeName": .string(storeName), "isGlobalStore": .bool(isGlobal)],
      "sync": [
        "id": .integer(syncId), "name": syncName.map { .string($0) } ?? .null, "definition": .string(definition),
      ],
    ]
  }
}

extension SyncPlan {
  /// The form that scripts get, and that a file of a plan has.
  public var json: JSONObject {
    var json: JSONObject = [
      "format": .string(Self.format), "id": .string(id), "madeAt": .integer(madeAt), "by": .object(actor.json()),
      "looked": .bool(looked), "mergeMode": .string(mergeMode.rawValue),
    ]
    for (key, value) in place.members { json[key] = value }
    json["summary"] = .object(summary)
    json["unknown"] = .array(unknown.map { .string($0) })
    json["entries"] = .array(items.map { .object($0.json(hiding: hidesValues ? id : nil)) })
    json["requests"] = hasOpaqueRequests ? .null : .array(requests.map { .object($0.json) })
    return json
  }

  private var summary: JSONObject {
    func count(_ action: UploadAction) -> JSONValue {
      .integer(Int64(items.count { $0.action == action && ($0.expect == .send || $0.expect == .merge) }))
    }
    func count(_ expect: PlannedItem.Expectation) -> JSONValue { .integer(Int64(items.count { $0.expect == expect })) }
    return [
      "create": count(.create), "update": count(.update), "upsert": count(.upsert), "delete": count(.delete),
      "conflicts": count(.conflict), "blocked": count(.blocked), "waiting": count(.wait), "skipped": count(.skip),
      "apiCalls": apiCalls.map { .integer(Int64($0)) } ?? .null,
    ]
  }
}

extension PlannedItem {
  /// - Parameter key: The id of the plan, if values are hashed.
  func json(hiding key: String?) -> JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    var json: JSONObject = [
      "soupName": .string(soup), "entryId": .integer(entryId), "version": .integer(version),
      "action": .string(action.word), "recordId": text(recordId), "title": key == nil ? text(title) : .null,
      "expect": .string(expect.rawValue), "request": request.map { .integer(Int64($0)) } ?? .null,
      "why": .array(why.map { ["code": .string($0.code.rawValue), "text": .string($0.text)] }),
      "fields": .array(fields.map { .object($0.json(hiding: key)) }),
    ]
    if !family.isEmpty { json["family"] = .array(family.map { .object($0.json(hiding: key)) }) }
    return json
  }
}

extension PlannedItem.Field {
  fileprivate func json(hiding key: String?) -> JSONObject {
    func shown(_ value: JSONValue?) -> JSONValue {
      guard let value, !value.isNull, let key else { return value ?? .null }
      return .string("sha256:" + ((try? Digest.sha256Hex(key + "\n" + name + "\n" + value.text)) ?? ""))
    }
    return [
      "name": .string(name), "base": shown(base), "local": shown(local), "server": shown(server),
      "changed": .string(side.rawValue), "sent": .bool(isSent),
    ]
  }
}

extension PlannedRequest {
  fileprivate var json: JSONObject {
    [
      "n": .integer(Int64(number)), "purpose": .string(purpose.rawValue), "server": .string(server ?? "org"),
      "method": .string(request.method.rawValue), "path": .string(request.pathWithoutQuery),
      "records": .integer(Int64(records)), "bytes": .integer(Int64(request.body?.count ?? 0)),
      "apiCalls": server == nil ? 1 : .null,
    ]
  }
}

extension UploadAction {
  /// The word for scripts: an entry that only leaves the soup is deleted.
  var word: String {
    switch self {
    case .create: "create"
    case .update: "update"
    case .upsert: "upsert"
    case .delete, .removeLocally: "delete"
    case .nothing: "none"
    }
  }
}
