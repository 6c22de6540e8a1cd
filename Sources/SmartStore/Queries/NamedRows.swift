import JSON

/// A page of a smart query's rows with the names of its columns.
package struct NamedRows: Sendable {
  /// The names that the engine gives the columns: the `AS` names where the query has them.
  package let names: [String]
  /// JSON text: an array of rows, each an array of values.
  package let text: [UInt8]
  /// Whether there are no further rows.
  package let isLast: Bool

  package init(names: [String], text: [UInt8], isLast: Bool) {
    self.names = names
    self.text = text
    self.isLast = isLast
  }
}

extension Store {
  /// Reads a page of a smart query outside of the cooperative pool.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.invalidSmartSql`, `.notReadOnly`, `.queryLimit`, `.storeClosed`, `.cancelled`.
  package func namedRows(_ spec: QuerySpec, pageIndex: Int) async throws -> NamedRows {
    try await readSmart { try $0.namedRows(spec, pageIndex: pageIndex) }
  }
}
