import RecordScan
import SmartStore

/// One page, taken apart: which bytes are records and what the page says of the rest of the list.
struct CollectionPage: Sendable {
  /// Counted from 1, for messages.
  let number: Int
  let answer: PageAnswer
  var facts = PageFacts()
  /// To be stored, in order. Of several items with one id the last one counts.
  var items: [PageItem] = []
  /// Ids with a mark of deletion.
  var removed: [String] = []
  /// Ids of items that fail `where`: they are removed where they are stored and clean.
  var excluded: [String] = []
  /// Items that cannot be used; the others can.
  var flagged: [FlaggedItem] = []
  /// Elements of the array, whatever becomes of them: what paging counts.
  var itemCount = 0
  /// Of all elements, marks of deletion included, before `where`.
  var ids: [String] = []
  /// Items that came again, later on the same page.
  var duplicates = 0
  /// The server is still computing the list: ask again later.
  var isPending = false
  /// Where the array of items lies in the body; nil when there is none.
  var array: Range<Int>?
  /// Every element is stored as it is, but for numeric ids.
  var isUntouched = false
  /// What the reader's scan found for the store; nil when it looked for nothing.
  var scanned: ScannedPage?

  /// The page for the store when every element is stored as it lies in the body.
  var untouchedRecords: ScannedPage? {
    isUntouched && !items.contains { $0.numericId != nil } ? scanned : nil
  }

  /// A record to be stored.
  struct PageItem: Sendable, Equatable {
    let id: String
    /// nil when the target has no date field or the item no date.
    let date: ServerDate?
    /// The object in the body.
    let place: Range<Int>
    /// Where a numeric id lies in the body: it is stored as text.
    var numericId: Range<Int>?
    /// The object as it is to be stored, when more than that differs from the body.
    let edited: [UInt8]?
  }

  struct FlaggedItem: Sendable, Equatable {
    /// In the array, from 0 on.
    let position: Int
    let id: String?
    /// What is wrong, without any value of the item.
    let reason: String
  }

  /// The records as one JSON array, for the store's scan.
  enum RecordArray: Sendable, Equatable {
    /// As it lies in the body: nothing is copied.
    case slice(Range<Int>)
    case text([UInt8])
  }

  /// - Parameter body: The one that the page was read from.
  func records(in body: UnsafeRawBufferPointer) -> RecordArray {
    if isUntouched, let array { return untouched(array, in: body) }
    var out: [UInt8] = [UInt8(ascii: "[")]
    out.reserveCapacity(items.reduce(2) { $0 + ($1.edited?.count ?? $1.place.count) + 3 })
    for (i, item) in items.enumerated() {
      if i > 0 { out.append(UInt8(ascii: ",")) }
      if let edited = item.edited {
        out.append(contentsOf: edited)
      } else {
        out.append(body, item.place, quoting: item.numericId)
      }
    }
    out.append(UInt8(ascii: "]"))
    return .text(out)
  }

  /// The whole array in as few pieces as there are numeric ids.
  private func untouched(_ array: Range<Int>, in body: UnsafeRawBufferPointer) -> RecordArray {
    guard items.contains(where: { $0.numericId != nil }) else { return .slice(array) }
    var out: [UInt8] = [], position = array.lowerBound
    out.reserveCapacity(array.count + 2 * items.count)
    for item in items {
      guard let id = item.numericId else { continue }
      out.append(body, position..<id.upperBound, quoting: id)
      position = id.upperBound
    }
    out.append(body, position..<array.upperBound)
    return .text(out)
  }
}

extension [UInt8] {
  /// - Parameter quoted: A part of the range that becomes a string; it holds nothing to be escaped.
  mutating func append(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, quoting quoted: Range<Int>? = nil) {
    guard let quoted, range.lowerBound <= quoted.lowerBound, quoted.upperBound <= range.upperBound else {
      return append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
    append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range.lowerBound..<quoted.lowerBound]))
    append(UInt8(ascii: "\""))
    append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[quoted]))
    append(UInt8(ascii: "\""))
    append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[quoted.upperBound..<range.upperBound]))
  }
}
