import RecordScan
import SmartStore

/// A decoded page: the location of its records, and what it says about the rest of the list.
struct CollectionPage: Sendable {
  /// Counts from 1; used in messages.
  let number: Int
  let answer: PageAnswer
  var facts = PageFacts()
  /// The items to store, in order. Of several items with the same id, only the last one remains.
  var items: [PageItem] = []
  /// Ids with a tombstone.
  var removed: [String] = []
  /// Ids of items that fail `where`. They are removed if they are stored and clean.
  var excluded: [String] = []
  /// Invalid items, which do not affect the others.
  var flagged: [FlaggedItem] = []
  /// Whether an element that is not a tombstone has no usable id: the list then has unknown rows, and
  /// says nothing about missing ones.
  var hasNamelessItems = false
  /// Later dates are in the future, in ms since 1970 UTC; nil if dates are serial numbers.
  var latestDate: Int64?
  /// The number of array elements, valid or not, as counted by paging.
  var itemCount = 0
  /// The ids of all elements before `where` applies, including tombstones.
  var ids: [String] = []
  /// The number of items that occur again later on the same page.
  var duplicates = 0
  /// The server is still computing the list; repeat the request later.
  var isPending = false
  /// The byte range of the items array in the body; nil if there is none.
  var array: Range<Int>?
  /// Every element is stored as it is, except that numeric ids become text.
  var isUntouched = false
  /// The result of a combined scan for the reader and the store; nil if there was none.
  var scanned: ScannedPage?

  /// The scanned page if every element can be stored byte for byte.
  var untouchedRecords: ScannedPage? {
    isUntouched && !items.contains { $0.numericId != nil } ? scanned : nil
  }

  /// A record to store.
  struct PageItem: Sendable, Equatable {
    let id: String
    /// nil if the target has no date field or the item has no date.
    let date: ServerDate?
    /// The byte range of the object in the body.
    let place: Range<Int>
    /// A numeric id, which is stored as text.
    var numericId: NumericId?
    /// The object to store, if it differs from the body by more than the id's type.
    let edited: [UInt8]?
  }

  struct FlaggedItem: Sendable, Equatable {
    /// Index in the array, from 0.
    let position: Int
    let id: String?
    /// What is wrong; contains no value of the item.
    let reason: String
  }

  /// The records as one JSON array, for the store's scan.
  enum RecordArray: Sendable, Equatable {
    /// A range of the body, without copying.
    case slice(Range<Int>)
    case text([UInt8])
  }

  /// Returns the records to store as one array.
  ///
  /// - Parameter body: The body that the page was read from.
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

  /// Copies the whole array in as few pieces as there are numeric ids.
  private func untouched(_ array: Range<Int>, in body: UnsafeRawBufferPointer) -> RecordArray {
    guard items.contains(where: { $0.numericId != nil }) else { return .slice(array) }
    var out: [UInt8] = [], position = array.lowerBound
    out.reserveCapacity(array.count + 2 * items.count)
    for item in items {
      guard let id = item.numericId else { continue }
      out.append(body, position..<id.place.upperBound, quoting: id)
      position = id.place.upperBound
    }
    out.append(body, position..<array.upperBound)
    return .text(out)
  }
}

extension [UInt8] {
  /// Appends a range of bytes.
  ///
  /// - Parameter quoting: A number in the range to turn into a string.
  mutating func append(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, quoting number: NumericId? = nil) {
    guard let number, case let quoted = number.place, range.lowerBound <= quoted.lowerBound,
      quoted.upperBound <= range.upperBound
    else {
      return append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range]))
    }
    append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[range.lowerBound..<quoted.lowerBound]))
    append(UInt8(ascii: "\""))
    if let digits = number.digits {
      append(contentsOf: digits)
    } else {
      append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[quoted]))
    }
    append(UInt8(ascii: "\""))
    append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[quoted.upperBound..<range.upperBound]))
  }
}
