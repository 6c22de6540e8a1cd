import MobileSync
import SmartStore

/// A page as it is to be stored.
struct EditedPage: Sendable {
  /// For each place of the target.
  var parts: [ScannedPage?]
  /// Rows that the server sent.
  let count: Int
  /// How many match in all, where the answer says it.
  let announced: Int?
  /// The last row that the server sent; nil when it has no stamp or no id.
  let last: KeysetWalk.Position?
  var notes = PageNotes()
}
