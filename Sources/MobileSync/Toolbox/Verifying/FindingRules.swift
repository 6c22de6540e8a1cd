import SmartStore

/// Says why records differ, and what ends that. No store, network or clock.
struct FindingRules: Sendable {
  let state: SyncState
  let mapping: SoupMapping
  let target: any SyncDownTarget
  /// Whether the soup has no entry of the sync although the server sends some.
  let isEmptied: Bool
  /// Whether the next run asks for everything because a program emptied the soup.
  let startsOver: Bool
  let look: StoreLook

  /// The end of a text for what a run of the sync brings.
  private var bySync: String { state.name.map { "\(line("sync", $0)) brings it" } ?? "the next run brings it" }
  /// The end of a text for what no run brings.
  private var mend: String { state.name.map { line("verify", $0, "--repair") } ?? "a repair brings it" }
  private func line(_ words: String...) -> String { CommandText.line(words, of: look) }

  private var isChild: Bool { mapping.parentIdField != nil }
  /// Whether the next run asks for everything.
  private var asksForEverything: Bool { target.bringsEverything || startsOver || state.coveredTimeStamp <= 0 }

  // MARK: Records of the server

  func finding(_ suspect: PageComparison.Suspect) -> VerifyFinding {
    let (reason, text) = suspect.entryId == nil ? missing(suspect) : different(suspect)
    return VerifyFinding(
      soupName: mapping.soup, entryId: suspect.entryId, recordId: suspect.recordId, reason: reason, fields: suspect.fields,
      text: text)
  }

  private func missing(_ suspect: PageComparison.Suspect) -> (VerifyFinding.Reason, String) {
    if isBrought(suspect) {
      return (.behind, (startsOver ? "the soup was cleared below the sync: " : "new on the server: ") + bySync)
    }
    if isEmptied { return (.missing, "the soup was cleared below the sync: \(mend)") }
    return (.missing, "\(whyNot(suspect)): \(mend)")
  }

  private func different(_ suspect: PageComparison.Suspect) -> (VerifyFinding.Reason, String) {
    let here = suspect.isDirty ? ", and changed here" : ""
    if let there = suspect.stamp, there == suspect.localStamp {
      let why = suspect.absent > 0 && suspect.absent == suspect.fields.count ? noRight : "changed there without a new date"
      return (.computed, "\(why)\(here): \(asksForEverything ? bySync : mend)")
    }
    if suspect.absent > 0, suspect.absent == suspect.fields.count { return (.different, "\(noRight)\(here): \(mend)") }
    if isBrought(suspect) { return (.behind, "changed on the server\(here): \(bySync)") }
    if let there = suspect.stamp, let own = suspect.localStamp, own > there {
      return (.different, "newer here than on the server\(here): \(mend)")
    }
    return (.different, "\(whyNot(suspect))\(here): \(mend)")
  }

  /// Whether the next run brings the record.
  private func isBrought(_ suspect: PageComparison.Suspect) -> Bool {
    if asksForEverything { return true }
    if let local = suspect.localStamp, let there = suspect.stamp, local > there { return false }
    return !isChild && suspect.stamp.map { $0 > state.coveredTimeStamp } ?? false
  }

  private let noRight = "no longer sent by the server, or this user has no right to it"

  /// Why no run brings a record.
  private func whyNot(_ suspect: PageComparison.Suspect) -> String {
    if max(state.coveredTimeStamp, state.maxTimeStamp) > look.now() + 86_400_000 {
      return "the sync asks for changes after a date in the future"
    }
    if isChild { return "a sync brings a child only with a change of its parent" }
    guard suspect.stamp != nil else { return "without a date that shows a change" }
    return suspect.entryId == nil
      ? "committed late, or removed here: the sync is past its date" : "committed late: the sync is past its date"
  }

  func moving(_ recordId: String, _ entryId: Int64?) -> VerifyFinding {
    VerifyFinding(
      soupName: mapping.soup, entryId: entryId, recordId: recordId, reason: .moving, fields: [],
      text: "changed while it was compared: run tureen verify again")
  }

  // MARK: Entries that the server did not send

  private func extra(_ row: RecordRow, _ text: String) -> VerifyFinding {
    VerifyFinding(
      soupName: mapping.soup, entryId: row.entryId, recordId: row.recordId, reason: .extra, fields: [], text: text)
  }

  func deleted(_ candidate: VerifyRun.Candidate) -> VerifyFinding {
    if candidate.row.isDirty {
      let decide = line("conflicts", mapping.soup, "\(candidate.row.entryId)")
      return extra(candidate.row, "deleted on the server, changed here: \(decide)")
    }
    return extra(candidate.row, "deleted on the server" + (candidate.isOwn ? "" : "; no sync owns the entry"))
  }

  func notSent(_ candidate: VerifyRun.Candidate, isThere: Bool) -> VerifyFinding {
    let why = isThere ? "on the server, but not in what the sync asks for" : "no longer sent by the server"
    return extra(candidate.row, why + (candidate.row.isDirty ? "; changed here" : ""))
  }

  func otherForm(_ row: RecordRow, _ canonical: String) -> VerifyFinding {
    extra(row, "stored under an id of \((row.recordId ?? "").utf8.count) characters; the server's has \(canonical.utf8.count)")
  }

  func copy(_ entryId: Int64, _ recordId: String) -> VerifyFinding {
    VerifyFinding(
      soupName: mapping.soup, entryId: entryId, recordId: recordId, reason: .extra, fields: [],
      text: "another entry has the same record")
  }
}
