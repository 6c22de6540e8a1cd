import JSON

extension Store {
  /// The rows of a smart query: as they are now, and again after each change of its soups. Changes that come
  /// before the next element is asked for are merged.
  ///
  /// - Parameters:
  ///   - smartSql: A SELECT over `{soup:path}`, with an order.
  ///   - arguments: The values of the placeholders `?`.
  ///   - pageSize: The most rows an element has.
  /// - Returns: A sequence that ends when the store closes, and throws what the query throws.
  /// - Throws: ``StoreError`` `.invalidSmartSql`, `.notReadOnly`, `.noSuchSoup`, `.storeClosed`.
  /// - Note: The counterpart of the native SDK's publisher of a query.
  public func observe(
    _ smartSql: String, arguments: [JSONValue] = [], pageSize: Int = 1000
  ) throws -> some AsyncSequence<[JSONValue], any Error> {
    try results(of: .smart(smartSql, arguments: arguments, pageSize: pageSize)) { snapshot, spec in
      try JSONValue(parsing: snapshot.query(spec, soup: nil, pageIndex: 0).text).arrayValue ?? []
    }
  }

  /// The same with the first page as its columns are called.
  package func observeNamedRows(_ spec: QuerySpec) throws -> some AsyncSequence<NamedRows, any Error> {
    try results(of: spec) { snapshot, spec in try snapshot.namedRows(spec, pageIndex: 0) }
  }

  /// What is read of a smart query: now, and again after each change of its soups.
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
