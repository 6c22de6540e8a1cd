import JSON

/// Queries, page by page.
extension Store {
  /// Opens a cursor on a query and reads its first page.
  ///
  /// - Parameters:
  ///   - spec: The query.
  ///   - soup: The soup of a query that is no smart query.
  ///   - asRecords: Entries are read field by field, by someone who sees for himself whether they are JSON. A page of entries
  ///     then ends with `entryLengths`, the bytes of each in the text.
  ///   - cancellation: Ends the query while it runs or waits for its turn. Closing the store does, too.
  /// - Returns: JSON text `{currentPageOrderedEntries, cursorId, currentPageIndex, pageSize, totalEntries, totalPages}`.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.invalidSmartSql`, `.notReadOnly`, `.queryLimit`, `.cancelled`,
  ///   `.tooManyCursors`, `.sqlite`.
  public func openCursor(
    _ spec: QuerySpec, soup: String?, asRecords: Bool = false, cancellation: QueryCancellation = QueryCancellation()
  ) throws -> [UInt8] {
    let (page, total, marks) = try readBlocking(for: cancellation, isSmart: spec.kind == .smart) { snapshot in
      var marks: PageMarks? = PageMarks()
      let page = try snapshot.page(0, of: spec, soup: soup, head: Store.cursorHead, asRecords: asRecords, marks: &marks)
      // What fits on a page needs no counting.
      guard !page.isLast else { return (page, page.rows, PageMarks()) }
      let total = try snapshot.count(spec, soup: soup)
      marks?.hold(in: try snapshot.view(), total: total)
      return (page, total, marks ?? PageMarks())
    }
    let cursor = CursorTable.Cursor(spec: spec, soup: soup, totalEntries: total, marks: marks)
    return Store.cursorText(try cursors.add(cursor), cursor, index: 0, page)
  }

  /// Reads another page of a cursor, from the data as they are now. The totals stay those of its opening.
  ///
  /// Pages beside one that was read cost the same at any depth until the next write to the store, when an index has the query's
  /// order; a far jump passes over the entries of that index, from the nearest row that is known. Smart queries count up to
  /// the page.
  /// - Parameters:
  ///   - id: The `cursorId` of ``openCursor(_:soup:asRecords:cancellation:)``.
  ///   - index: Counts from 0; moved into the range of pages the cursor has.
  ///   - asRecords: As when the cursor is opened.
  ///   - cancellation: Likewise.
  /// - Throws: ``StoreError`` `.noSuchCursor`, and what the query throws.
  public func moveCursor(
    _ id: Int64, toPageIndex index: Int64, asRecords: Bool = false, cancellation: QueryCancellation = QueryCancellation()
  ) throws -> [UInt8] {
    let cursor = try cursors.find(id)
    let page = Int(min(max(0, index), Int64(max(0, cursor.totalPages - 1))))
    var marks = cursor.marks
    let isSmart = cursor.spec.kind == .smart
    let result = try readBlocking(on: marks.view?.reader, for: cancellation, isSmart: isSmart) { snapshot in
      marks.begin(try snapshot.view())
      var known: PageMarks? = marks
      defer { marks = known ?? marks }
      return try snapshot.page(
        page, of: cursor.spec, soup: cursor.soup, head: Store.cursorHead, asRecords: asRecords, marks: &known)
    }
    cursors.keep(marks, for: id)
    return Store.cursorText(id, cursor, index: page, result)
  }

  /// Closing a cursor that is not open does nothing.
  public func closeCursor(_ id: Int64) { cursors.remove(id) }

  /// One page of a query without a cursor.
  /// - Returns: JSON text of an array: entries, or rows as arrays.
  public func query(
    _ spec: QuerySpec, soup: String? = nil, pageIndex: Int = 0, cancellation: QueryCancellation = QueryCancellation()
  ) throws -> [UInt8] {
    try readBlocking(for: cancellation, isSmart: spec.kind == .smart) {
      try $0.query(spec, soup: soup, pageIndex: pageIndex).text
    }
  }

  /// How many entries or rows a query has in all.
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
