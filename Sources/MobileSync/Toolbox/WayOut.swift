import JSON

/// The reason for the state of a dirty entry, and what ends it. No store, network or clock.
struct WayOut {
  let look: StoreLook
  /// The sync up of the soup; nil if there is none.
  let sender: SoupUploads.Sender?
  /// The entry's note; nil without one.
  let note: ErrorNote?
  let fields: TargetFields

  private func command(_ words: String...) -> String { CommandText.line(words, of: look) }

  /// The command that runs the sync up of the soup.
  private var sync: String? {
    guard let state = sender?.sync else { return nil }
    if let name = state.name { return command("sync", name) }
    return call("mobilesync", "reSync", ["syncId": .integer(state.id)])
  }

  /// A call of the bridge on the store.
  private func call(_ service: String, _ action: String, _ arguments: JSONObject) -> String {
    var arguments = arguments
    if !look.storeOptions.isEmpty {
      arguments["storeName"] = .string(look.store.name)
      if look.store.isGlobal { arguments["isGlobalStore"] = true }
    }
    return "tureen exec \(service) \(action) " + CommandText.quoted(JSONValue.object(arguments).text)
  }

  private func discard(_ entry: DirtyEntry) -> String {
    let words = ["discard", entry.soupName, "\(entry.entryId)"] + (entry.action == .create ? ["--created"] : [])
    return CommandText.line(words, of: look)
  }

  func ofWaiting(_ entry: inout DirtyEntry) {
    if let note, note.code == ErrorNote.resolver { entry.reason = DirtyEntry.Reason("resolver", note.text) }
    guard let sync else {
      entry.reason = DirtyEntry.Reason("noSyncUp", "no sync up sends the soup '\(entry.soupName)'")
      entry.remedies = ["define a sync up for '\(entry.soupName)'", discard(entry)]
      return
    }
    entry.remedies = [sync]
  }

  func ofSkipped(_ entry: inout DirtyEntry, family: DirtyEntry.Reason?) {
    switch note?.code {
    case ErrorNote.preconditionFailed:
      entry.reason = DirtyEntry.Reason("preconditionFailed", note?.text ?? "")
      entry.remedies = [sync].compactMap { $0 } + [discard(entry)]
    case ErrorNote.nothingToSend:
      let names = note?.fields ?? []
      entry.reason = DirtyEntry.Reason(names.isEmpty ? "nothingToSend" : "fieldNotListed", note?.text ?? "")
      entry.remedies =
        (names.isEmpty ? [] : ["name \(names.joined(separator: ", ")) in a field list of the sync up"]) + [discard(entry)]
    default:
      entry.reason = family
      let help = family?.code == "parentMissing" ? "sync its parent down" : "mend its parent"
      entry.remedies = [help, discard(entry)]
    }
  }

  /// - Parameter place: The process that is sending it.
  func ofHeld(_ entry: inout DirtyEntry, place: String?) {
    let name = entry.syncName.map { "sync '\($0)'" } ?? "a sync"
    entry.reason = DirtyEntry.Reason("heldByOtherRun", "\(name) in \(place ?? "another process") is sending it")
    entry.remedies = ["wait for \(place ?? "that process")"]
  }

  func ofRefused(_ entry: inout DirtyEntry) {
    entry.reason = DirtyEntry.Reason(note?.code ?? "", note?.text ?? "")
    let names = (note?.fields ?? []).isEmpty ? "the entry" : (note?.fields ?? []).joined(separator: ", ")
    entry.remedies = [entry.action == .delete ? "wait" : "correct \(names)", discard(entry)]
  }

  func ofDoubt(_ entry: inout DirtyEntry) {
    guard let until = entry.until else {
      entry.reason = DirtyEntry.Reason(
        "undecided", note?.text ?? "its creation was not answered, and the server's records do not show whether it took place")
      let remove: JSONObject = ["soupName": .string(entry.soupName), "entryIds": [.integer(entry.entryId)]]
      entry.remedies = ["set \(fields.id) to the id of its record", call("smartstore", "removeFromSoup", remove)]
      return
    }
    let isWaiting = until > look.now()
    entry.reason = DirtyEntry.Reason(
      "noAnswer",
      "its creation was not answered; a sync up looks for the record"
        + (isWaiting ? " and sends nothing of it before \(TimeStamp.text(until))" : ""))
    entry.remedies = (isWaiting ? ["wait until \(TimeStamp.text(until))"] : []) + [sync].compactMap { $0 }
  }

  func ofConflict(_ entry: inout DirtyEntry, _ conflict: SyncConflict) {
    let text =
      switch conflict.kind {
      case .changed:
        conflict.fields.isEmpty ? "both sides changed it" : "both sides changed \(conflict.fields.joined(separator: ", "))"
      case .deletedHere: "deleted here, changed on the server"
      case .deletedThere: "changed here, deleted on the server"
      case .unknown: "both sides changed it, and the server's version is not known"
      }
    entry.reason = DirtyEntry.Reason(conflict.kind.rawValue, text)
    let words = ["conflicts", "resolve", entry.soupName, "\(entry.entryId)"]
    entry.remedies = [CommandText.line(words + ["--mine"], of: look)]
    // What is not known cannot be taken.
    if conflict.kind != .unknown { entry.remedies.append(CommandText.line(words + ["--theirs"], of: look)) }
  }
}
