import JSON
import LuaBridge
import MobileSync
import SmartStore

/// Implements the actions that read the history: they change nothing and ask no org.
extension Host {
  func runs(_ call: ActionCall, _ look: StoreLook) throws -> JSONObject {
    func integer(_ key: String) -> Int64? { call.value(key)?.integerValue }
    var filter = RunFilter()
    if let name = call.value("syncName")?.stringValue {
      filter.sync = .name(name)
    } else if let id = integer("syncId") {
      filter.sync = .id(id)
    }
    filter.since = integer("since")
    filter.before = integer("before")
    filter.onlyFailed = call.value("failed")?.boolValue ?? false
    if let limit = integer("limit") {
      guard (1...Int64(RunFilter.mostRuns)).contains(limit) else {
        throw SyncError(.invalidArguments, "limit must be from 1 to \(RunFilter.mostRuns), got \(limit)")
      }
      filter.limit = Int(limit)
    }
    let run = integer("run")
    if call.value("requests")?.boolValue == true { return try look.requestsJSON(filter, run: run) }
    return try run.map { try look.runJSON($0) } ?? look.runsJSON(filter)
  }

  /// Explains an entry. Answers at once unless the server is asked, and always in a host that only looks into its stores.
  func explain(_ call: ActionCall, _ core: HostCore, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    let told = try explanation(call, try core.look(call.store)), asksServer = call.value("server")?.boolValue ?? false
    if asksServer { try core.requireServer() }
    // The planner tells what the next run does, since it is the same code.
    try answer(call, core, atOnce: !asksServer, onUpdate) { planner in
      var told = told
      try await planner.complete(&told, asksServer: asksServer)
      return told.json
    }
  }

  private func explanation(_ call: ActionCall, _ look: StoreLook) throws -> EntryExplanation {
    let soup = try call.string("soupName")
    switch (call.value("entryId")?.integerValue, call.value("recordId")?.stringValue) {
    case (let id?, nil): return try look.explain(entry: id, in: soup)
    case (nil, let id?): return try look.explain(recordId: id, in: soup)
    default: throw SyncError(.invalidArguments, "give either 'entryId' or 'recordId'")
    }
  }
}
