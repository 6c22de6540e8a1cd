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
    let spec = QuerySpec.smart(smartSql, arguments: arguments, pageSize: pageSize)
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    let observer = try observe(
      query: spec, onNews: { _ in continuation.yield() }, onEnd: { continuation.finish() })
    continuation.yield()
    return signals.map { [self] _ -> [JSONValue] in
      _ = observer.take()
      let text = try await readSmart { try $0.query(spec, soup: nil, pageIndex: 0).text }
      return try JSONValue(parsing: text).arrayValue ?? []
    }
  }
}
