import JSON

/// Finds out whether operations took effect whose response is lost.
struct OperationCheck: Sendable {
  let exchange: ParseExchange
  let className: String

  /// Compares the server's object with the expected values.
  ///
  /// - Parameters:
  ///   - body: The body of the update.
  ///   - stamp: The `updatedAt` of the object before the update; nil if it is not known.
  ///   - expected: The fields after the update, if no other client changed the object.
  func finding(
    _ body: JSONObject, of id: String, before stamp: JSONValue?, expected: JSONObject
  ) async throws -> BatchSender.Finding {
    let operations = body.filtered { _, value in !FieldOperation.isRepeatable(["": value]) }
    guard let stamp, !operations.isEmpty else { return .unclear }
    let columns = operations.keys.map { FieldPath($0).root }
    guard let found = try await exchange.objects([id], in: className, keys: columns, chunk: 1)[id] else { return .unclear }
    if found["updatedAt"] == stamp { return .notMade }
    let isThere = operations.allSatisfy { field, _ in
      let path = FieldPath(field)
      return path.value(in: expected).map { path.value(in: found)?.isSame(as: $0) ?? false } ?? false
    }
    return isThere ? .made(found) : .unclear
  }
}
