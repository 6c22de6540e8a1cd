/// Finds the records of a page, and the wanted fields of each, in one pass and without building
/// values.
///
/// A page is either an array of objects, or an object that holds such an array under a known key,
/// together with envelope members such as `nextRecordsUrl`. Use it from one thread at a time; it
/// reuses its arrays for the next page.
public struct RecordScanner: Sendable {
  public let plan: ScanPlan
  public private(set) var records: [ScannedRecord] = []
  /// The values of all records: `plan.fieldCount` values for each record in turn.
  public private(set) var values: [ScannedValue] = []
  /// The requested envelope members, in the order of the request.
  public private(set) var envelope: [ScannedValue] = []
  /// Whether a string of the page contains an escaped half of a surrogate pair.
  public private(set) var hasLoneSurrogate = false
  /// See ``JSONWalker/depthLimit``.
  public var depthLimit = JSONWalker.maximumDepth

  public init(plan: ScanPlan) { self.plan = plan }

  /// Returns the value of one of the plan's paths in one record.
  @inlinable
  public func value(record: Int, field: Int) -> ScannedValue { values[record * plan.fieldCount + field] }

  /// Scans a page that is an array of objects.
  /// - Throws: ``ScanError`` if the text is not such an array.
  public mutating func scanArray(_ bytes: UnsafeRawBufferPointer) throws(ScanError) {
    reset(envelopeCount: 0)
    var walker = JSONWalker(bytes)
    walker.skipWhitespace()
    try scanRecords(&walker, depth: 0)
    try walker.expectEnd()
    hasLoneSurrogate = walker.hasLoneSurrogate
  }

  /// Scans a page that is an object holding the records under `recordsKey`.
  ///
  /// - Parameter envelopeKeys: First-level members of the page to report in ``envelope``.
  /// - Returns: False if the object has no such member.
  /// - Throws: ``ScanError`` if the text is not valid JSON, or the member is not an array of
  ///   objects.
  public mutating func scanPage(
    _ bytes: UnsafeRawBufferPointer, recordsKey: String, envelopeKeys: [String]
  ) throws(ScanError) -> Bool {
    reset(envelopeCount: envelopeKeys.count)
    let wanted = Array(recordsKey.utf8), keys = envelopeKeys.map { Array($0.utf8) }
    var walker = JSONWalker(bytes), found = false, problem: ScanError?
    walker.skipWhitespace()
    try walker.expect(UInt8(ascii: "{"), "expected an object")
    walker.skipWhitespace()
    if walker.p < walker.end, walker.p.pointee == UInt8(ascii: "}") {
      walker.p += 1
      try walker.expectEnd()
      return false
    }
    while true {
      let key = try RecordScanner.key(&walker)
      if key == wanted {
        problem = try scanRecordsMember(&walker)
        found = true
      } else {
        let value = try walker.skipValue(depth: 1)
        if let i = keys.firstIndex(where: { key == $0 }) {
          envelope[i] = ScannedValue(kind: value.kind, start: value.start, count: value.count)
        }
      }
      if try RecordScanner.atEnd(&walker, close: UInt8(ascii: "}")) { break }
    }
    try walker.expectEnd()
    if let problem { throw problem }
    hasLoneSurrogate = walker.hasLoneSurrogate
    return found
  }

  /// Scans the member that holds a page's records. If a page has it more than once, the last one counts, as in a full parse.
  /// - Returns: Why the value is not an array of objects; nil if it is one.
  private mutating func scanRecordsMember(_ walker: inout JSONWalker) throws(ScanError) -> ScanError? {
    records.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    walker.skipWhitespace()
    let start = walker.p
    do throws(ScanError) {
      try scanRecords(&walker, depth: 1)
      return nil
    } catch {
      walker.p = start
      _ = try walker.skipValue(depth: 1)
      return error
    }
  }

  /// Scans a text that is one object, as a single record.
  /// - Throws: ``ScanError`` if the text is not a JSON object.
  public mutating func scanObject(_ bytes: UnsafeRawBufferPointer) throws(ScanError) {
    reset(envelopeCount: 0)
    var walker = JSONWalker(bytes)
    walker.depthLimit = depthLimit
    walker.skipWhitespace()
    guard walker.p < walker.end, walker.p.pointee == UInt8(ascii: "{") else { throw walker.failure("expected an object") }
    let tree = plan.tree
    defer { withExtendedLifetime(tree) {} }
    try scanRecord(&walker, tree.roots, tree.owned, fieldCount: plan.fieldCount, depth: 1)
    try walker.expectEnd()
    hasLoneSurrogate = walker.hasLoneSurrogate
  }

  /// Scans the elements of an array inside a text. An element that is not an object becomes a
  /// record without values: see ``ScannedRecord/kind``.
  /// - Parameters:
  ///   - start: The byte offset of the array. The text around it is not examined.
  ///   - depth: The number of containers that are open around the array.
  /// - Returns: The offset after the array.
  /// - Throws: ``ScanError`` if no valid array begins there.
  public mutating func scanElements(
    _ bytes: UnsafeRawBufferPointer, from start: Int, depth: Int
  ) throws(ScanError) -> Int {
    reset(envelopeCount: 0)
    var walker = JSONWalker(bytes)
    walker.depthLimit = depthLimit
    walker.p = walker.base + start
    try scanRecords(&walker, depth: depth, takesEveryElement: true)
    hasLoneSurrogate = walker.hasLoneSurrogate
    return walker.offset
  }

  private mutating func reset(envelopeCount: Int) {
    records.removeAll(keepingCapacity: true)
    values.removeAll(keepingCapacity: true)
    envelope = Array(repeating: .missing, count: envelopeCount)
    hasLoneSurrogate = false
  }

  private mutating func scanRecords(
    _ walker: inout JSONWalker, depth: Int, takesEveryElement: Bool = false
  ) throws(ScanError) {
    try walker.expect(UInt8(ascii: "["), "expected an array of records")
    walker.skipWhitespace()
    if walker.p < walker.end, walker.p.pointee == UInt8(ascii: "]") {
      walker.p += 1
      return
    }
    let tree = plan.tree, roots = tree.roots, owned = tree.owned, fieldCount = plan.fieldCount
    defer { withExtendedLifetime(tree) {} }
    while true {
      walker.skipWhitespace()
      if walker.p < walker.end, walker.p.pointee == UInt8(ascii: "{") {
        try scanRecord(&walker, roots, owned, fieldCount: fieldCount, depth: depth + 2)
      } else {
        guard takesEveryElement else { throw walker.failure("expected a record") }
        let value = try walker.skipValue(depth: depth + 1)
        values.append(contentsOf: repeatElement(.missing, count: fieldCount))
        records.append(
          ScannedRecord(start: value.start, count: value.count, hasOwnedKey: false, isEmpty: false, kind: value.kind))
      }
      if try RecordScanner.atEnd(&walker, close: UInt8(ascii: "]")) { return }
    }
  }

  /// Scans the object at the walker's position.
  @inline(__always)
  private mutating func scanRecord(
    _ walker: inout JSONWalker, _ roots: KeyTree.Level, _ owned: KeyTree.Level, fieldCount: Int, depth: Int
  ) throws(ScanError) {
    let first = values.count, start = walker.offset
    values.append(contentsOf: repeatElement(.missing, count: fieldCount))
    var record = ScannedRecord(start: start, count: 0, hasOwnedKey: false, isEmpty: true)
    try scanMembers(&walker, &record, roots, owned, first: first, depth: depth)
    record.count = walker.offset - start
    records.append(record)
  }

  private mutating func scanMembers(
    _ walker: inout JSONWalker, _ record: inout ScannedRecord, _ roots: KeyTree.Level, _ owned: KeyTree.Level, first: Int,
    depth: Int
  ) throws(ScanError) {
    walker.p += 1
    walker.skipWhitespace()
    if walker.p < walker.end, walker.p.pointee == UInt8(ascii: "}") {
      walker.p += 1
      return
    }
    record.isEmpty = false
    while true {
      let key = try RecordScanner.key(&walker)
      if owned.find(key) >= 0 { record.hasOwnedKey = true }
      let wanted = roots.find(key)
      if wanted < 0 {
        _ = try walker.skipValue(depth: depth)
      } else {
        try scanMember(&walker, key, roots, from: wanted, first: first, depth: depth)
      }
      if try RecordScanner.atEnd(&walker, close: UInt8(ascii: "}")) { return }
    }
  }

  /// Takes the value of `key`, which the level has at position `wanted`, and descends into it if a
  /// path continues there.
  private mutating func scanMember(
    _ walker: inout JSONWalker, _ key: ScannedKey, _ level: KeyTree.Level, from wanted: Int, first: Int, depth: Int
  ) throws(ScanError) {
    let before = walker.p
    let value = try walker.skipValue(depth: depth)
    let scanned = ScannedValue(kind: value.kind, start: value.start, count: value.count)
    for i in wanted..<level.count where level.nodes![i].isNamed(key) {
      let field = level.nodes![i].field, children = level.nodes![i].children
      if field >= 0 { values[first + field] = scanned }
      if children.isEmpty { continue }
      // If a key occurs more than once, the last member counts, with everything inside it.
      mark(children, value.kind == .array ? .arrayStep : .missing, first: first)
      guard value.kind == .object else { continue }
      let after = walker.p
      walker.p = before
      try descend(&walker, children, first: first, depth: depth + 1)
      walker.p = after
    }
  }

  private mutating func descend(
    _ walker: inout JSONWalker, _ level: KeyTree.Level, first: Int, depth: Int
  ) throws(ScanError) {
    walker.skipWhitespace()
    walker.p += 1
    walker.skipWhitespace()
    if walker.p < walker.end, walker.p.pointee == UInt8(ascii: "}") { return }
    while true {
      let key = try RecordScanner.key(&walker)
      let wanted = level.find(key)
      if wanted < 0 {
        _ = try walker.skipValue(depth: depth)
      } else {
        try scanMember(&walker, key, level, from: wanted, first: first, depth: depth)
      }
      if try RecordScanner.atEnd(&walker, close: UInt8(ascii: "}")) { return }
    }
  }

  private mutating func mark(_ level: KeyTree.Level, _ kind: ValueKind, first: Int) {
    for i in 0..<level.count {
      let field = level.nodes![i].field
      if field >= 0 { values[first + field] = ScannedValue(kind: kind, start: 0, count: 0) }
      mark(level.nodes![i].children, kind, first: first)
    }
  }

  @inline(__always)
  static func key(_ walker: inout JSONWalker) throws(ScanError) -> ScannedKey {
    walker.skipWhitespace()
    return try walker.key()
  }

  /// Returns true after the closing bracket, false after a comma.
  @inline(__always)
  static func atEnd(_ walker: inout JSONWalker, close: UInt8) throws(ScanError) -> Bool {
    walker.skipWhitespace()
    guard walker.p < walker.end else { throw walker.failure("unterminated") }
    if walker.p.pointee == close {
      walker.p += 1
      return true
    }
    try walker.expect(UInt8(ascii: ","), "',' is missing")
    return false
  }
}
