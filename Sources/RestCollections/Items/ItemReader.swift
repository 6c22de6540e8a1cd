import JSON
import RecordScan
import SmartStore

/// A scan plan shared by the store and an ``ItemReader``.
struct StorePlan: Sendable {
  let plan: PagePlan
  /// The positions of the reader's own fields in the plan.
  let positions: [Int]
}

/// Extracts ids, dates, conditions and tombstones from the elements of a page's array, by path.
struct ItemReader: Sendable {
  private let rules: ItemRules
  private let editor: ItemEditor
  private let paths: PathSet
  private let firstCondition: Int

  private enum Field: Int, CaseIterable {
    case item, id, date, after, deletedInElement, deletedInItem, deletedIdInElement, deletedIdInItem, idInElement
  }

  init(_ target: RestTarget) {
    rules = target.items
    editor = ItemEditor(target.items)
    let inside = target.items.itemPath?.steps ?? [], deletion = target.items.deletion
    let hasItemPath = target.items.itemPath != nil
    let fields: [PathSet.Located] = Field.allCases.map { field in
      switch field {
      case .item: PathSet.Located(target.items.itemPath)
      case .id: PathSet.Located(target.items.idField, below: inside)
      case .date: PathSet.Located(target.items.dateField, below: inside)
      case .after: PathSet.Located(target.paging.afterField, below: inside)
      case .deletedInElement: PathSet.Located(hasItemPath ? deletion.path : nil)
      case .deletedInItem: PathSet.Located(deletion.path, below: inside)
      case .deletedIdInElement: PathSet.Located(hasItemPath ? deletion.idPath : nil)
      case .deletedIdInItem: PathSet.Located(deletion.idPath, below: inside)
      case .idInElement: PathSet.Located(hasItemPath ? target.items.idField : nil)
      }
    }
    firstCondition = fields.count
    paths = PathSet(located: fields + target.items.conditions.map { PathSet.Located($0.path, below: inside) })
  }

  /// One array element.
  private struct Element {
    let whole: ScannedValue
    /// Index in the array, from 0.
    let position: Int
  }

  /// The scanned elements of an array.
  private struct Elements {
    let scanner: RecordScanner
    /// See `PathSet.scanned`.
    let positions: [Int]?
  }

  /// Returns a plan that scans for the store and this reader at once; nil if elements are not
  /// stored unchanged.
  func plan(storing store: PagePlan) -> StorePlan? {
    guard rules.itemPath == nil, editor.changesNothing else { return nil }
    let (plan, positions) = store.adding(paths.plan)
    return StorePlan(plan: plan, positions: positions)
  }

  /// Reads the elements of an array.
  ///
  /// - Parameters:
  ///   - start: The offset of the array in the page's bytes.
  ///   - depth: The number of containers open around it.
  ///   - storing: The store's plan, see ``plan(storing:)``, and the page's bytes for as long as the
  ///     store needs them.
  /// - Returns: The offset after the array.
  func read(
    from start: Int, depth: Int, in bytes: UnsafeRawBufferPointer, storing: (plan: StorePlan, source: any PageBytes)?,
    into page: inout CollectionPage
  ) throws(ScanError) -> Int {
    let elements: Elements, end: Int
    if let (store, source) = storing {
      let found = try store.plan.scanElements(source, from: start, depth: depth, depthLimit: PageReader.Limit.depth)
      page.scanned = found.page
      elements = Elements(scanner: found.page.scanner, positions: store.positions)
      end = found.end
    } else {
      var scanner = RecordScanner(plan: paths.plan)
      scanner.depthLimit = PageReader.Limit.depth
      end = try scanner.scanElements(bytes, from: start, depth: depth)
      elements = Elements(scanner: scanner, positions: nil)
    }
    page.array = start..<end
    page.itemCount = elements.scanner.records.count
    guard page.itemCount <= PageReader.Limit.items else { return end }
    page.isUntouched = rules.itemPath == nil && editor.changesNothing
    page.ids.reserveCapacity(page.itemCount)
    page.items.reserveCapacity(page.itemCount)
    for (i, record) in elements.scanner.records.enumerated() {
      let whole = ScannedValue(kind: record.kind, start: record.start, count: record.count)
      try read(Element(whole: whole, position: i), elements, bytes, into: &page)
    }
    return end
  }

  private func value(
    _ field: Int, _ element: Element, _ elements: Elements, _ bytes: UnsafeRawBufferPointer
  ) throws(ScanError) -> ScannedValue {
    guard element.whole.kind == .object else { return .missing }
    let scanned = paths.scanned(field, record: element.position, by: elements.scanner, at: elements.positions)
    return try paths.value(field, scanned: scanned, root: element.whole, in: bytes)
  }

  private func read(
    _ element: Element, _ elements: Elements, _ bytes: UnsafeRawBufferPointer, into page: inout CollectionPage
  ) throws(ScanError) {
    func value(_ field: Field) throws(ScanError) -> ScannedValue {
      try self.value(field.rawValue, element, elements, bytes)
    }
    guard element.whole.kind == .object else {
      return page.flag(element.position, nil, "the element is \(element.whole.kindName), not an object")
    }
    let after = try value(.after)
    if after.kind != .missing { page.facts.after = FactValue(after, in: bytes) }
    let idValue = try value(.id), id = ItemReader.id(idValue, bytes)
    if rules.deletion.path != nil, try isMarked(element, elements, bytes) {
      return try readMark(element, id, elements, bytes, into: &page)
    }
    let item = try rules.itemPath == nil ? element.whole : value(.item)
    guard item.kind == .object else {
      return page.flag(
        element.position, id, "'itemPath' (\(rules.itemPath?.text ?? "$")) leads to \(item.kindName), not to an object")
    }
    guard let id else { return page.flag(element.position, nil, wrongId(idValue)) }
    page.ids.append(id)
    let dateValue = try value(.date), date = self.date(dateValue, bytes)
    if rules.dateField != nil { page.facts.note(date, upTo: page.latestDate) }
    if date == nil, !ItemReader.saysNoDate(dateValue, bytes) {
      return page.flag(
        element.position, id, "'\(rules.dateField?.text ?? "")' is not a date of the format '\(rules.dateFormat.text)'")
    }
    guard try isWanted(element, elements, bytes) else {
      page.excluded.append(id)
      page.isUntouched = false
      return
    }
    let numericId = ItemReader.numericId(idValue, id)
    let edited = editor.changesNothing ? nil : try editor.edited(item, quoting: numericId, in: bytes)
    page.items.append(
      CollectionPage.PageItem(id: id, date: date, place: item.start..<item.end, numericId: numericId, edited: edited))
  }

  /// Reads a tombstone, which needs only an id.
  private func readMark(
    _ element: Element, _ itemId: String?, _ elements: Elements, _ bytes: UnsafeRawBufferPointer,
    into page: inout CollectionPage
  ) throws(ScanError) {
    var id: String?
    for field in [Field.deletedIdInElement, .deletedIdInItem] where id == nil {
      id = ItemReader.id(try value(field.rawValue, element, elements, bytes), bytes)
    }
    if id == nil, rules.deletion.idPath == nil {
      let ofElement = try value(Field.idInElement.rawValue, element, elements, bytes)
      id = itemId ?? ItemReader.id(ofElement, bytes)
    }
    guard let id else { return page.flag(element.position, nil, "the tombstone has no id", isTombstone: true) }
    page.ids.append(id)
    page.removed.append(id)
    page.isUntouched = false
  }

  /// Returns a text, or a whole number as decimal text.
  private static func id(_ value: ScannedValue, _ bytes: UnsafeRawBufferPointer) -> String? {
    guard let text = value.scalarText(in: bytes), !text.isEmpty else { return nil }
    guard value.kind == .number, !text.utf8.allSatisfy({ $0.isASCIIDigit }) else { return text }
    return NumericId.digits(of: Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  private static func numericId(_ value: ScannedValue, _ id: String) -> NumericId? {
    guard value.kind == .number else { return nil }
    return NumericId(place: value.start..<value.end, digits: id.utf8.count == value.count ? nil : Array(id.utf8))
  }

  /// Why a value is not an id.
  private func wrongId(_ value: ScannedValue) -> String {
    let place = "'\(rules.idField.text)'"
    switch value.kind {
    case .missing, .arrayStep: return "the item has no id in \(place)"
    case .number: return "the id in \(place) is a number that is not whole, or too large"
    case .plainString, .escapedString: return "the id in \(place) is empty"
    case .null, .true, .false, .object, .array: return "the id in \(place) is \(value.kindName), not text or a number"
    }
  }

  /// Whether a value stands for "no date": missing, null, blank, or the zero date of a database, such as
  /// `0000-00-00 00:00:00`.
  private static func saysNoDate(_ value: ScannedValue, _ bytes: UnsafeRawBufferPointer) -> Bool {
    switch value.kind {
    case .missing, .null: return true
    case .plainString:
      let text = value.slice(in: bytes)
      let isBlank = text.allSatisfy { $0 == UInt8(ascii: " ") }
      return isBlank || (text.starts(with: "0000".utf8) && text.allSatisfy { "0-/:.+ TZ".utf8.contains($0) })
    default: return false
    }
  }

  private func date(_ value: ScannedValue, _ bytes: UnsafeRawBufferPointer) -> ServerDate? {
    switch value.kind {
    case .plainString, .number: rules.dateFormat.date(value.slice(in: bytes), zone: rules.zone)
    case .escapedString: value.string(in: bytes).flatMap { rules.dateFormat.date($0.utf8, zone: rules.zone) }
    default: nil
    }
  }

  private func isMarked(
    _ element: Element, _ elements: Elements, _ bytes: UnsafeRawBufferPointer
  ) throws(ScanError) -> Bool {
    for field in [Field.deletedInElement, .deletedInItem] {
      if ItemReader.isMark(try value(field.rawValue, element, elements, bytes), rules.deletion, bytes) { return true }
    }
    return false
  }

  static func isMark(_ value: ScannedValue, _ deletion: ItemRules.Deletion, _ bytes: UnsafeRawBufferPointer) -> Bool {
    if let values = deletion.values { return equals(value, oneOf: values, bytes) }
    return value.kind != .missing && value.kind != .null && value.kind != .false
  }

  private func isWanted(
    _ element: Element, _ elements: Elements, _ bytes: UnsafeRawBufferPointer
  ) throws(ScanError) -> Bool {
    for (i, condition) in rules.conditions.enumerated() {
      let value = try value(firstCondition + i, element, elements, bytes)
      let holds =
        switch condition.test {
        case .exists(let exists): (value.kind != .missing) == exists
        case .oneOf(let values): ItemReader.equals(value, oneOf: values, bytes)
        }
      guard holds else { return false }
    }
    return true
  }

  /// Compares texts, numbers, booleans and null; numbers by value.
  private static func equals(_ value: ScannedValue, oneOf values: [JSONValue], _ bytes: UnsafeRawBufferPointer) -> Bool {
    switch value.kind {
    case .plainString, .escapedString:
      values.contains { $0.stringValue.map { value.isString(Array($0.utf8), in: bytes) } ?? false }
    case .true: values.contains(.bool(true))
    case .false: values.contains(.bool(false))
    case .null: values.contains(.null)
    case .number:
      values.contains { wanted in
        JSONValue.exactNumber(parsing: value.slice(in: bytes)).isSameNumber(as: wanted)
      }
    default: false
    }
  }

  /// Reads the page's array of deleted items, which are ids or objects with an id.
  func readDeletedItems(
    _ array: ScannedValue, in bytes: UnsafeRawBufferPointer, into page: inout CollectionPage
  ) throws(ScanError) {
    let steps = (rules.deletion.idPath ?? rules.idField).steps ?? []
    var position = 0
    try array.forEachElement(in: bytes) { (element) throws(ScanError) in
      let value = element.kind == .object ? try element.value(at: steps, in: bytes) : element
      if let id = ItemReader.id(value, bytes) {
        page.ids.append(id)
        page.removed.append(id)
      } else {
        page.flag(position, nil, "the element in 'deletedItemsPath' has no id", isTombstone: true)
      }
      position += 1
      return true
    }
  }
}

extension CollectionPage {
  fileprivate mutating func flag(_ position: Int, _ id: String?, _ reason: String, isTombstone: Bool = false) {
    flagged.append(FlaggedItem(position: position, id: id, reason: reason))
    hasNamelessItems = hasNamelessItems || (id == nil && !isTombstone)
    isUntouched = false
  }
}

extension PageFacts {
  fileprivate mutating func note(_ date: ServerDate?, upTo latest: Int64?) {
    guard let date else {
      lacksDate = true
      return
    }
    newestStatedDate = newestStatedDate.map { max($0, date) } ?? date
    if latest.map({ date.position <= $0 }) ?? true { newestDate = newestDate.map { max($0, date) } ?? date }
    oldestDate = oldestDate.map { min($0, date) } ?? date
    lastDate = date
  }
}
