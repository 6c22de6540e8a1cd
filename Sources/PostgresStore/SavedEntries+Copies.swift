import JSON
import SmartStore
import Support

/// Stale copies; see ``SuspectCopy``.
extension SavedEntries {
  /// See ``SuspectCopy/keepingUpload(_:_:over:paths:isDangling:)``.
  func keepingUpload(_ page: ScannedPage, _ i: Int, _ suspect: SuspectCopy, id: Int64) throws -> KeptCopy? {
    guard let stored = try transaction.entry(id, in: table.soup.name) else { return nil }
    return try suspect.keepingUpload(
      page, i, over: try stored.object(), paths: table.projected.map { table.soup.specs[$0].path }, isDangling: isDangling)
  }

  /// Returns whether no entry of the store has this id, apart from references in the same field.
  private func isDangling(_ id: String, _ path: String) throws -> Bool {
    for other in transaction.caches.all {
      for spec in other.soup.specs where spec.type == .string {
        guard other.soup.number != table.soup.number || spec.path != path else { continue }
        var parameters = Parameters()
        let condition = other.value(spec.path).condition(.equal, .text(id), &parameters)
        if try transaction.query("SELECT FROM \(other.sql) WHERE \(condition) LIMIT 1", parameters.list).count > 0 {
          return false
        }
      }
    }
    return true
  }
}
