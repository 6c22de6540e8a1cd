import JSON

/// What a page says beside its records. All of it counts for a target that keeps its own account of the list; for others what is
/// deleted, unwanted, flagged and remembered does, and the warnings.
package struct PageNotes: Sendable {
  /// Ids of records that the server has deleted.
  package var deleted: [String] = []
  /// Ids of records that are not wanted: entries without local changes go.
  package var unwanted: [String] = []
  /// Ids of records in other places than the first that are gone, by place: entries without local changes go, whichever sync
  /// brought them.
  package var goneElsewhere: [Int: [String]] = [:]
  /// Why items of the page could not be used, a sentence each.
  package var flagged: [String] = []
  /// Elements of the page that are no records of the soup: left out, marked as deleted, flagged, or there twice.
  package var left = 0
  /// What the target is to remember from this page on.
  package var memory: JSONObject?
  /// How far the soup is up to date with this page, in the target's own count; nil: as before.
  package var watermark: Int64?
  /// What is kept of this page for later runs, by its name; nil for a page of which nothing is kept.
  package var kept: (page: String, value: JSONObject)?
  /// The names of all pages of the list, on the last one: what is kept of others goes.
  package var pages: Set<String>?
  /// The page is the same as in an earlier run: nothing of it is stored.
  package var isUnchanged = false
  /// The list begins again with this page.
  package var startsAgain = false
  /// There was no page: the server says that the list has ended before.
  package var isPastTheEnd = false
  /// Nothing leads on from this page: the run fails behind it, also where it might pause.
  package var failsNext = false
  /// The list has ended, and records may be missing.
  package var isIncomplete = false
  /// What people should know of this run, in sentences.
  package var warnings: [String] = []

  package init() {}
}

/// How a run continues what earlier ones did.
package enum RunMode: Sendable {
  /// From where the sync stands.
  case resume
  /// Everything again: what the target remembers is forgotten.
  case refresh
  /// The pages behind those of the last run, which ended before the list did.
  case more
  /// Those pages, and there are none.
  case nothing
}
