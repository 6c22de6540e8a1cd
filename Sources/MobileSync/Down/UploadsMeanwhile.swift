import JSON
import SmartStore

/// Records of a page whose entries another process uploaded since the run asked for its first page. The page may show them as
/// they were before the upload: stored, they would take back here what the server has, and the next upload would take it back
/// there.
struct UploadsMeanwhile {
  /// Positions on the page; these records are left out.
  private(set) var positions: Set<Int> = []
  /// The oldest stamp of those that others may have changed, ms. They have to be asked for again; the others come with the
  /// next run because the upload gave them a newer stamp.
  private(set) var oldestChange: Int64?

  /// - Parameter mark: ``StoreSnapshot/uploadMark()`` before the first page was asked for.
  init(on page: ScannedPage, _ place: RecordPlace, since mark: Int64, in snapshot: StoreSnapshot) throws {
    guard try snapshot.uploadMark() > mark else { return }
    let uploaded = try snapshot.uploads(in: place.soup, idPath: place.fields.id, since: mark)
    guard !uploaded.isEmpty else { return }
    for i in 0..<page.count {
      guard let entryId = page.id(record: i).flatMap({ uploaded[$0] }) else { continue }
      positions.insert(i)
      let entry = try snapshot.entry(entryId, in: place.soup)?.object()
      guard let entry, let stamp = UploadsMeanwhile.milliseconds(page.text(record: i, extra: 0)) else { continue }
      // An upload leaves the entry's own stamp as it was.
      let known = UploadsMeanwhile.milliseconds(entry[place.fields.modificationDate]?.stringValue)
      if known.map({ stamp > $0 }) ?? true { oldestChange = min(oldestChange ?? stamp, stamp) }
    }
  }

  private static func milliseconds(_ text: String?) -> Int64? { text.flatMap { TimeStamp.milliseconds($0) } }
}
