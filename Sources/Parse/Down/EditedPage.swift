import MobileSync
import SmartStore

/// A page ready to store.
struct EditedPage: Sendable {
  /// The records for each soup of the target.
  var parts: [ScannedPage?]
  /// The number of rows that the server sent.
  let count: Int
  /// The number of all matches, if the response contains it.
  let announced: Int?
  /// The last row that the server sent; nil if it lacks its time stamp or id.
  let last: KeysetWalk.Position?
  var notes = PageNotes()
}
