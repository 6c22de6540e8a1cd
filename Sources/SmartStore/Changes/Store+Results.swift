import JSON

extension Store {
  /// Returns the rows of a smart query: the current ones, and the new ones after each change of its
  /// soups. Changes before the next element is requested are merged.
  ///
  /// - Parameters:
  ///   - smartSql: A SELECT over `{soup:path}`, with an order.
  ///   - arguments: The values of the placeholders `?`.
  ///   - pageSize: The largest number of rows in an element.
  /// - Returns: A sequence that ends when the store closes, and throws the errors of the query.
  /// - Throws: ``StoreError`` `.invalidSmartSql`, `.notReadOnly`, `.noSuchSoup`, `.storeClosed`.
  /// - Note: Corresponds to the native SDK's publisher of a query.
  public func observe(
    _ smartSql: String, arguments: [JSONValue] = [], pageSize: Int = 1000
  ) throws -> some AsyncSequence<[JSONValue], any Error> {
    try results(of: .smart(smartSql, arguments: arguments, pageSize: pageSize)) { snapshot, spec in
      try JSONValue(parsing: snapshot.query(spec, soup: nil, pageIndex: 0).text).arrayValue ?? []
    }
  }

  /// Like ``observe(_:arguments:pageSize:)``, but returns the first page with its column names.
  package func observeNamedRows(_ spec: QuerySpec) throws -> some AsyncSequence<NamedRows, any Error> {
    try results(of: spec) { snapshot, spec in try snapshot.namedRows(spec, pageIndex: 0) }
  }

  /// Reads a smart query now, and again after each change of its soups.
  private func results<T: Sendable>(
    of spec: QuerySpec, reading: @escaping @Sendable (StoreSnapshot, QuerySpec) throws -> T
  ) throws -> some AsyncSequence<T, any Error> {
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let observer = try observe(
      query: spec, onNews: { _ in continuation.yield() }, onEnd: { continuation.finish() })
    continuation.yield()
    return signals.map { [self] _ -> T in
      _ = observer.take()
      return try await readSmart { try reading($0, spec) }
    }
  }
}
