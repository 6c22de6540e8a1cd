import JSON
import SmartStore

/// The first sentence of an explanation. No store.
struct ExplainedText {
  let told: EntryExplanation
  /// nil for an entry without local changes.
  let dirty: DirtyEntry?
  let story: EntryStory
  let now: Int64
  let fields: TargetFields

  /// The changed fields; of an update without known fields, and of the others, the whole entry.
  static func change(_ entry: DirtyEntry) -> String {
    switch entry.action {
    case .create: "it as a new record"
    case .delete: "its deletion"
    case .update: entry.fields.isEmpty ? "its changes" : entry.fields.joined(separator: ", ")
    }
  }

  /// Whether nothing changed since the server said no.
  static func isLikelyRefusedAgain(_ story: EntryStory) -> Bool {
    guard let refusal = story.last("refused") else { return false }
    return (story.lastEdit?.at ?? 0) <= refusal.at
  }

  var sentence: String {
    let name = told.title ?? "entry \(told.entryId ?? 0)"
    switch told.state {
    case .clean: return "\(name) is as the server has it\(origin)."
    case .waiting:
      let noSender = dirty?.reason?.code == "noSyncUp"
      return "\(name) waits for \(noSender ? "a sync up, and none sends its soup" : "the next sync up"): \(changed)."
    case .refused: return "\(name) is refused: \(changed), and the server says \"\(reason)\"."
    case .conflict: return "\(name) is in conflict: \(changed), and \(reason)\(found)."
    case .skipped: return "\(name) was not sent\(by(story.last("skipped"))): \(changed); \(reason)."
    case .held: return "\(name) is being sent: \(reason)."
    case .inDoubt: return "\(name) is in doubt: \(changed), and the answer of the server was lost\(by(story.last("inDoubt")))."
    case .removed, .unknown: return told.text
    }
  }

  private var reason: String { dirty?.reason?.text ?? "" }
  private var found: String { by(story.last("conflict")) }

  /// ` in contactsUp, run 54, 4 h ago`
  private func by(_ line: EntryExplanation.Line?) -> String {
    guard let line, line.run != nil else { return "" }
    return " in \(EntryStory.who(line)), \(AgoText.text(line.at, now: now))"
  }

  /// `Email changed here by silva.lua 4 h ago`
  private var changed: String {
    guard let dirty else { return "" }
    let edit = story.lastEdit
    let who = edit.map { " by \(EntryStory.who($0)) \(AgoText.text($0.at, now: now))" } ?? ""
    switch dirty.action {
    case .create: return "it was created here\(who)"
    case .delete: return "it was deleted here\(who)"
    case .update:
      return dirty.fields.isEmpty ? "it was changed here\(who)" : "\(dirty.fields.joined(separator: ", ")) changed here\(who)"
    }
  }

  /// The last thing that happened to a clean entry.
  private var origin: String {
    guard let line = story.lines.first else { return "; how it came is not recorded" }
    let when = AgoText.text(line.at, now: now), who = EntryStory.who(line)
    switch line.cause {
    case "loaded": return ": \(who) brought it \(when)"
    case "uploaded", "adopted": return ": \(who) sent \((line.fields ?? ["it"]).joined(separator: ", ")) \(when)"
    case "updated", "merged", "settled": return ": \(who) brought \((line.fields ?? ["it"]).joined(separator: ", ")) \(when)"
    case "discarded": return ": the changes made here were dropped by \(who) \(when)"
    case "resolved": return ": its conflict was resolved by \(who) \(when)"
    case "repaired":
      let what = line.reason == "missing" ? "it" : (line.fields ?? ["it"]).joined(separator: ", ")
      return ": \(who) found that it differed, and brought \(what) \(when)"
    default: return ""
    }
  }
}
