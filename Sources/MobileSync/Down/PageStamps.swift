import Glibc
import SmartStore

/// The modification dates of a page's records, the first of its plan's own fields. Hardly any is read: those in the form that
/// servers give them are told apart by their bytes.
enum PageStamps {
  /// The newest on a page, milliseconds; nil without any. Those that are no date are passed over.
  static func newest(on page: ScannedPage) -> Int64? {
    var plain: UnsafeRawBufferPointer?, other: Int64?
    page.forEachRawText(extra: 0) { _, stamp in
      guard let stamp else { return }
      guard TimeStamp.isPlain(stamp) else {
        other = max(other, TimeStamp.milliseconds(stamp))
        return
      }
      if plain.map({ isLater(stamp, than: $0) }) ?? true { plain = stamp }
    }
    guard let plain else { return other }
    // What looked like the newest may be no date at all.
    guard let time = TimeStamp.milliseconds(plain) else { return readingAll(on: page) }
    return max(other, time)
  }

  private static func readingAll(on page: ScannedPage) -> Int64? {
    var newest: Int64?
    page.forEachRawText(extra: 0) { _, stamp in newest = max(newest, stamp.flatMap { TimeStamp.milliseconds($0) }) }
    return newest
  }

  private static func max(_ a: Int64?, _ b: Int64?) -> Int64? {
    guard let a, let b else { return a ?? b }
    return Swift.max(a, b)
  }

  /// Of two stamps in the plain form.
  private static func isLater(_ a: UnsafeRawBufferPointer, than b: UnsafeRawBufferPointer) -> Bool {
    memcmp(a.baseAddress!, b.baseAddress!, a.count) > 0
  }

  /// A time that stamps are compared with.
  struct Limit {
    private let text: [UInt8]

    init(_ milliseconds: Int64) { text = Array(TimeStamp.text(milliseconds).utf8) }

    /// False for a stamp that is certainly later.
    func mayReach(_ stamp: UnsafeRawBufferPointer) -> Bool {
      guard TimeStamp.isPlain(stamp), text.count == stamp.count else { return true }
      return text.withUnsafeBytes { !isLater(stamp, than: $0) }
    }
  }
}
