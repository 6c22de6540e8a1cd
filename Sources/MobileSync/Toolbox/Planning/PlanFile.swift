import JSON
import SmartStore

/// A plan as scripts and files have it, read to be applied.
struct PlanFile: Sendable {
  struct Entry: Sendable {
    let soup: String
    let entryId: Int64
    let version: Int64
  }

  let id: String
  let madeAt: Int64
  let syncId: Int64
  /// The members that a plan of the same place has.
  let place: JSONObject
  /// The entries that the plan sends, with the other members of their families.
  let entries: [Entry]

  /// How long a plan may be applied, and how far the clock of its machine may be ahead, in ms.
  private static let validFor: Int64 = 86_400_000, ahead: Int64 = 300_000

  /// - Throws: ``SyncError`` `.planInvalid`, naming what is wrong.
  init(_ json: JSONObject) throws(SyncError) {
    guard json["format"]?.stringValue == SyncPlan.format else {
      throw PlanFile.invalid("its format is \(json["format"]?.text ?? "missing"), and this version reads \(SyncPlan.format)")
    }
    guard let id = json["id"]?.stringValue, !id.isEmpty, let madeAt = json["madeAt"]?.integerValue,
      let syncId = json["sync"]?["id"]?.integerValue, let entries = json["entries"]?.arrayValue
    else { throw PlanFile.invalid("it is damaged: 'id', 'madeAt', 'sync' or 'entries' is missing") }
    (self.id, self.madeAt, self.syncId) = (id, madeAt, syncId)
    place = json.filtered { key, _ in ["server", "store", "sync"].contains(key) }
    var found: [Entry] = []
    for entry in entries where ["send", "merge"].contains(entry["expect"]?.stringValue) {
      for one in [entry] + (entry["family"]?.arrayValue ?? []) { found.append(try PlanFile.entry(one)) }
    }
    self.entries = found
  }

  private static func entry(_ json: JSONValue) throws(SyncError) -> Entry {
    guard let soup = json["soupName"]?.stringValue, let id = json["entryId"]?.integerValue,
      let version = json["version"]?.integerValue
    else { throw invalid("it is damaged: an entry lacks 'soupName', 'entryId' or 'version'") }
    return Entry(soup: soup, entryId: id, version: version)
  }

  static func invalid(_ why: String) -> SyncError {
    SyncError(.planInvalid, "the plan cannot be applied: \(why); make another one with tureen plan")
  }

  /// Returns the plan's sync, if the plan may be applied to it.
  /// - Throws: ``SyncError`` `.planInvalid`, `.planUsed`, `.noSuchSync`.
  func check(
    _ store: Store, _ server: (SyncState) throws -> JSONObject, now: Int64, in snapshot: StoreSnapshot
  ) throws -> SyncState {
    guard try snapshot.soupExists(SyncsSoup.name), let state = try SyncsSoup.find(.id(syncId), in: snapshot) else {
      throw SyncError.noSuchSync(.id(syncId))
    }
    try check(try PlanPlace(state, of: store, id: snapshot.storeId() ?? "", server: try server(state)), now: now)
    let used = try snapshot.history(HistoryQuery(.runs, where: "plan = ?", [.text(id)], newestFirst: true, limit: 1))
    guard used.isEmpty else {
      throw SyncError(.planUsed, "the plan was applied before, in run \(used[0].id); make another one with tureen plan")
    }
    return state
  }

  /// - Throws: ``SyncError`` `.planInvalid` if the plan is too old, or of another place.
  func check(_ here: PlanPlace, now: Int64) throws(SyncError) {
    guard now - madeAt <= PlanFile.validFor else { throw PlanFile.invalid("it is older than 24 hours") }
    guard madeAt - now <= PlanFile.ahead else { throw PlanFile.invalid("it was made in the future; check the clocks") }
    let own = here.members
    for (key, what) in [
      ("store", "another store"), ("server", "another server or user"), ("sync", "another definition of the sync"),
    ]
    where place[key] != own[key] { throw PlanFile.invalid("it is of \(what)") }
  }
}
