/// A conflict: an entry with local changes that the server changed as well, and the server's
/// version.
///
/// The base and the local version are stored elsewhere and are read on request.
package struct ConflictRecord: Sendable, Equatable {
  /// What is known about the server's version.
  package enum Server: Sendable, Equatable {
    /// JSON text of an object.
    case record([UInt8])
    case deleted
    case unknown
  }

  package var entryId: Int64
  /// The sync that detected the conflict last.
  package var syncId: Int64
  package var server: Server
  /// The names of the fields with the server's id and its modification date.
  package var idField: String
  package var dateField: String
  /// Ms since 1970 UTC.
  package var detectedAt: Int64

  package init(
    entryId: Int64, syncId: Int64, server: Server, idField: String, dateField: String, detectedAt: Int64
  ) {
    self.entryId = entryId
    self.syncId = syncId
    self.server = server
    self.idField = idField
    self.dateField = dateField
    self.detectedAt = detectedAt
  }
}
