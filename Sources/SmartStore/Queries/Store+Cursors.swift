import JSON

/// Queries, page by page.
extension Store {
  /// Opens a cursor on a query and reads its first page.
  ///
  /// - Parameters:
  ///   - spec: The query.
  ///   - soup: The soup; nil for a smart query.
  ///   - asRecords: Skips checking that stored entries are valid JSON, for a caller that reads them
  ///     field by field and checks them itself. A page of entries then ends with `entryLengths`,
  ///     the byte length of each entry.
  ///   - cancellation: Cancels the query while it runs or waits. Closing the store cancels it as
  ///     well.
  /// - Returns: JSON text `{currentPageOrderedEntries, cursorId, currentPageIndex, pageSize, totalEntries, totalPages}`.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.invalidSmartSql`, `.notReadOnly`, `.queryLimit`, `.cancelled`,
  ///   `.tooManyCursors`, `.sqlite`.
  public func openCursor(
    _ spec: QuerySpec, soup: String?, asRecords: Bool = false, cancellation: QueryCancellation = QueryCancellation()
  ) throws -> [UInt8] {
    let (page, total, anchors) = try readBlocking(for: cancellation, isSmart: spec.kind == .smart) { snapshot in
      var anchors: CursorAnchors? = CursorAnchors()
      let page = try snapshot.page(0, of: spec, soup: soup, head: Store.cursorHead, asRecords: asRecords, anchors: &anchors)
      // A result that fits on one page needs no counting.
      guard !page.isLast else { return (page, page.rows, CursorAnchors()) }
      let total = try snapshot.count(spec, soup: soup)
      anchors?.hold(in: try snapshot.view(), total: total)
      return (page, total, anchors ?? CursorAnchors())
    }
    let cursor = CursorTable.Cursor(spec: spec, soup: soup, totalEntries: total, anchors: anchors)
    return Store.cursorText(try cursors.add(cursor), cursor, index: 0, page)
  }

  /// Reads another page of a cursor from the current data. The totals stay as they were when the
  /// cursor was opened.
  ///
  /// If an index has the query's order, the pages next to one that was read cost the same at any
  /// depth, until the next write to the store. A jump skips index entries from the nearest known
  /// row. Smart queries count from the first row.
  /// - Parameters:
  ///   - id: The `cursorId` of ``openCursor(_:soup:asRecords:cancellation:)``.
  ///   - index: The page number, counted from 0; clamped to the pages of the cursor.
  ///   - asRecords: As for opening the cursor.
  ///   - cancellation: As for opening the cursor.
  /// - Throws: ``StoreError`` `.noSuchCursor`, and what the query throws.
  public func moveCursor(
    _ id: Int64, toPageIndex index: Int64, asRecords: Bool = false, cancellation: QueryCancellation = QueryCancellation()
  ) throws -> [UInt8] {
    let cursor = try cursors.find(id)
    let page = Int(min(max(0, index), Int64(max(0, cursor.totalPages - 1))))
    var anchors = cursor.anchors
    let isSmart = cursor.spec.kind == .smart
    let result = try readBlocking(on: anchors.view?.reader, for: cancellation, isSmart: isSmart) { snapshot in
      anchors.begin(try snapshot.view())
      var known: CursorAnchors? = anchors
      defer { anchors = known ?? anchors }
      return try snapshot.page(
        page, of: cursor.spec, soup: cursor.soup, head: Store.cursorHead, asRecords: asRecords, anchors: &known)
    }
    cursors.keep(anchors, for: id)
    return Store.cursorText(id, cursor, index: page, result)
  }

  /// Closes a cursor. Does nothing if it is not open.
  public func closeCursor(_ id: Int64) { cursors.remove(id) }

  /// Reads one page of a query without a cursor.
  /// - Returns: JSON text of an array: entries, or rows as arrays.
  public func query(
    _ spec: QuerySpec, soup: String? = nil, pageIndex: Int = 0, cancellation: QueryCancellation = QueryCancellation()
  ) throws -> [UInt8] {
    try readBlocking(for: cancellation, isSmart: spec.kind == .smart) {
      try $0.query(spec, soup: soup, pageIndex: pageIndex).text
    }
  }

  /// Returns the total number of entries or rows of a query.
  public func count(
    _ spec: QuerySpec, soup: String? = nil, cancellation: QueryCancellation = QueryCancellation()
  ) throws -> Int {
    try readBlocking(for: cancellation, isSmart: spec.kind == .smart) { try $0.count(spec, soup: soup) }
  }

  private static let cursorHead = #"{"currentPageOrderedEntries":"#

  private static func cursorText(_ id: Int64, _ cursor: CursorTable.Cursor, index: Int, _ page: consuming QueryPage) -> [UInt8] {
    page.text.append(
      contentsOf: """
        ,"cursorId":\(id),"currentPageIndex":\(index),"pageSize":\(cursor.spec.pageSize),\
        "totalEntries":\(cursor.totalEntries),"totalPages":\(cursor.totalPages)
        """.utf8)
    if !page.lengths.isEmpty {
      page.text.append(contentsOf: ",\"entryLengths\":[".utf8)
      for length in page.lengths {
        JSONText.append(Int64(length), to: &page.text)
        page.text.append(UInt8(ascii: ","))
      }
      page.text[page.text.count - 1] = UInt8(ascii: "]")
    }
    page.text.append(UInt8(ascii: "}"))
    return page.text
  }
}
