import JSON
import SmartStore

/// Records of a page whose entries were uploaded after the run requested its first page. The page
/// may show them in their state before the upload. Storing that would undo the upload locally, and
/// the next upload would undo it on the server.
struct ConcurrentUploads {
  /// Positions on the page; these records are skipped.
  private(set) var positions: Set<Int> = []
  /// The oldest time stamp, in ms, of records that someone else may have changed as well. The next
  /// run must request them again; it gets the others anyway, because the upload gave them a newer
  /// stamp.
  private(set) var oldestChange: Int64?

  /// - Parameter mark: ``StoreSnapshot/uploadSequence()`` before the first page was requested.
  init(on page: ScannedPage, _ mapping: SoupMapping, since mark: Int64, in snapshot: StoreSnapshot) throws {
    guard try snapshot.uploadSequence() > mark else { return }
    let uploaded = try snapshot.uploads(in: mapping.soup, idPath: mapping.fields.id, since: mark)
    guard !uploaded.isEmpty else { return }
    let met = (0..<page.count).compactMap { i in page.id(record: i).flatMap { uploaded[$0] }.map { (i, $0) } }
    let stored = try met.isEmpty ? [] : snapshot.storedEntries(Set(met.map(\.1)).sorted(), in: mapping.soup)
    let entries = try Dictionary(uniqueKeysWithValues: stored.map { ($0.id, try $0.object()) })
    for (i, entryId) in met {
      positions.insert(i)
      guard let entry = entries[entryId], let stamp = ConcurrentUploads.milliseconds(page.text(record: i, extra: 0)) else {
        continue
      }
      // An upload does not change the entry's own time stamp.
      let known = ConcurrentUploads.milliseconds(entry[mapping.fields.modificationDate]?.stringValue)
      if known.map({ stamp > $0 }) ?? true { oldestChange = min(oldestChange ?? stamp, stamp) }
    }
  }

  private static func milliseconds(_ text: String?) -> Int64? { text.flatMap { TimeStamp.milliseconds($0) } }
}
