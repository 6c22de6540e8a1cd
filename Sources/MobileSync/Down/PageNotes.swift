import JSON

/// What a page says besides its records. All of it applies to targets that track their own
/// progress. For other targets, only the deleted, unwanted and flagged records, the memory and the
/// warnings apply.
package struct PageNotes: Sendable {
  /// Ids of records that the server has deleted.
  package var deleted: [String] = []
  /// Ids of records that the target does not want; their entries are removed unless they have local
  /// changes.
  package var unwanted: [String] = []
  /// Ids of removed records in mappings other than the first, by mapping. Their entries are removed
  /// unless they have local changes, whichever sync brought them.
  package var goneElsewhere: [Int: [String]] = [:]
  /// Why items of the page could not be used, one sentence each.
  package var flagged: [String] = []
  /// The number of elements of the page that are not stored: filtered out, marked as deleted,
  /// flagged, or duplicates.
  package var left = 0
  /// What the target remembers from this page on.
  package var memory: JSONObject?
  /// How far the soup is up to date with this page, in the target's own unit; nil leaves the value
  /// unchanged.
  package var watermark: Int64?
  /// Data about this page for later runs, with the page's name; nil to store none.
  package var kept: (page: String, value: JSONObject)?
  /// Further data for later runs, stored with this page. Its names begin with ``ownPrefix``.
  package var marks: [(name: String, value: String)] = []
  /// Set on the last page: the names of all pages of the list. Data about other pages is removed.
  package var pages: IdSet?
  /// Whether the page is the same as in an earlier run, so that nothing of it is stored.
  package var isUnchanged = false
  /// Whether the list starts again with this page.
  package var startsAgain = false
  /// Whether there was no page, because the list had already ended.
  package var isPastTheEnd = false
  /// Whether no page can follow: the run fails after this page, even where it could pause.
  package var failsNext = false
  /// Whether the list has ended but records may be missing.
  package var isIncomplete = false
  /// Warnings about this run for users, in sentences.
  package var warnings: [String] = []

  package init() {}

  /// Names of data that does not belong to a page begin with this; no URL does.
  package static let ownPrefix = "#"
}

/// How a run continues earlier ones.
package enum RunMode: Sendable {
  /// Continues from the sync's state.
  case resume
  /// Fetches everything again and drops what the target remembers.
  case refresh
  /// Fetches the pages after those of the last run, which stopped before the end of the list.
  case more
  /// Like ``more``, but there are no further pages.
  case nothing
}
