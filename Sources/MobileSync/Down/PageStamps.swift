import Glibc
import SmartStore

/// Finds modification dates on a page, in the first additional field of its plan. Stamps in the
/// usual form are compared as bytes, so hardly any is parsed.
enum PageStamps {
  /// Returns the newest stamp on a page in ms; nil if there is none. Ignores values that are not
  /// dates, and stamps later than `latest`.
  static func newest(on page: ScannedPage, upTo latest: Int64 = .max) -> Int64? {
    guard let newest = newest(on: page) else { return nil }
    return newest > latest ? readingAll(on: page, upTo: latest) : newest
  }

  private static func newest(on page: ScannedPage) -> Int64? {
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
    // The largest text may not be a valid date.
    guard let time = TimeStamp.milliseconds(plain) else { return readingAll(on: page, upTo: .max) }
    return max(other, time)
  }

  private static func readingAll(on page: ScannedPage, upTo latest: Int64) -> Int64? {
    var newest: Int64?
    page.forEachRawText(extra: 0) { _, stamp in
      guard let time = stamp.flatMap({ TimeStamp.milliseconds($0) }), time <= latest else { return }
      newest = max(newest, time)
    }
    return newest
  }

  private static func max(_ a: Int64?, _ b: Int64?) -> Int64? {
    guard let a, let b else { return a ?? b }
    return Swift.max(a, b)
  }

  /// Compares two stamps in the plain form.
  private static func isLater(_ a: UnsafeRawBufferPointer, than b: UnsafeRawBufferPointer) -> Bool {
    memcmp(a.baseAddress!, b.baseAddress!, a.count) > 0
  }

  /// A time to compare stamps with.
  struct Limit {
    private let text: [UInt8]

    init(_ milliseconds: Int64) { text = Array(TimeStamp.text(milliseconds).utf8) }

    /// Returns false for a stamp that is certainly later.
    func mayReach(_ stamp: UnsafeRawBufferPointer) -> Bool {
      guard TimeStamp.isPlain(stamp), text.count == stamp.count else { return true }
      return text.withUnsafeBytes { !isLater(stamp, than: $0) }
    }
  }
}
