import JSON
import RestClient

/// Several writes in one call. The server starts them all at once, so none may depend on another in
/// the same batch.
struct BatchRequest: Sendable, Equatable {
  let items: [ObjectRequest]
  /// Whether all items succeed or none; the server then does not say which item failed.
  var isTransaction = false

  /// Splits a list into batches in the same order. Two writes of one object never share a batch,
  /// because their order would be undefined.
  ///
  /// - Parameter size: The maximum number of items per batch.
  static func chunks(_ items: [ObjectRequest], size: Int = Tuning.batchOperations, isTransaction: Bool = false) -> [BatchRequest]
  {
    var batches: [BatchRequest] = [], open: [ObjectRequest] = [], paths: IdSet = []
    for item in items {
      let isSameObject = item.verb != .create && paths.contains(item.path)
      if open.count >= max(1, size) || isSameObject {
        batches.append(BatchRequest(items: open, isTransaction: isTransaction))
        open.removeAll()
        paths.removeAll()
      }
      open.append(item)
      if item.verb != .create { paths.insert(item.path) }
    }
    return open.isEmpty ? batches : batches + [BatchRequest(items: open, isTransaction: isTransaction)]
  }

  /// Two batches of half the size, for a server that rejected this one as too large; nil for a
  /// single item.
  var halves: [BatchRequest]? {
    guard items.count > 1 else { return nil }
    let middle = (items.count + 1) / 2
    return [items[..<middle], items[middle...]].map { BatchRequest(items: Array($0), isTransaction: isTransaction) }
  }

  /// - Parameter server: Its mount path is prepended to the path of every item.
  func request(on server: ServerAddress) -> RestRequest {
    let requests = items.map { item -> JSONValue in
      var request: JSONObject = ["method": .string(item.verb.rawValue), "path": .string(server.mountPath + item.path)]
      if let body = item.body { request["body"] = .object(body) }
      return .object(request)
    }
    var body: JSONObject = ["requests": .array(requests)]
    if isTransaction, items.count > 1 { body["transaction"] = true }
    return RestRequest(.POST, "/batch", body: body.serialized(), isRepeatable: items.allSatisfy(\.isRepeatable))
  }

  /// Returns the result of each item, in order. The status is not used, since it is 200 even if all
  /// items failed.
  ///
  /// - Throws: ``ParseProblem`` if the response is not a list with one element per item.
  func results(_ answer: JSONValue) throws(ParseProblem) -> [Result<JSONObject, ServerRefusal>] {
    guard let elements = answer.arrayValue, elements.count == items.count else {
      throw ParseProblem(
        description: "the response to a batch of \(items.count) is "
          + (answer.arrayValue.map { "a list of \($0.count)" } ?? "not a list") + ", so the results of its items are unknown")
    }
    var results: [Result<JSONObject, ServerRefusal>] = []
    for element in elements {
      if let success = element["success"]?.objectValue, element["error"] == nil {
        results.append(.success(success))
      } else if let error = element["error"] {
        results.append(.failure(ServerRefusal(batchItem: error)))
      } else {
        throw ParseProblem(description: "an element of the response to a batch has neither 'success' nor 'error'")
      }
    }
    return results
  }
}
