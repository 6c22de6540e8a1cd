import JSON
import RestClient

/// Several writes in one call. The server starts them all at once, so that none may need another one of the same batch.
struct BatchRequest: Sendable, Equatable {
  let items: [ObjectRequest]
  /// All or none; the server names no guilty item then.
  var isTransaction = false

  /// Cuts a list into batches that keep its order. Two writes of one object never share a batch: which of them runs last is
  /// chance.
  /// - Parameter size: Items of a batch at most.
  static func chunks(_ items: [ObjectRequest], size: Int = Tuning.batchOperations, isTransaction: Bool = false) -> [BatchRequest]
  {
    var batches: [BatchRequest] = [], open: [ObjectRequest] = [], paths: Set<String> = []
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

  /// Two of half the size, for a server that found this one too large; nil when it cannot be halved.
  var halves: [BatchRequest]? {
    guard items.count > 1 else { return nil }
    let middle = (items.count + 1) / 2
    return [items[..<middle], items[middle...]].map { BatchRequest(items: Array($0), isTransaction: isTransaction) }
  }

  /// - Parameter server: Its mount path stands before the path of every item.
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

  /// What became of each item, in the order of the items. The status says nothing: it is 200 even when all of them failed.
  /// - Throws: ``ParseProblem`` for an answer that is not a list with an element for each item.
  func results(_ answer: JSONValue) throws(ParseProblem) -> [Result<JSONObject, ServerRefusal>] {
    guard let elements = answer.arrayValue, elements.count == items.count else {
      throw ParseProblem(
        description: "the answer to a batch of \(items.count) is "
          + (answer.arrayValue.map { "a list of \($0.count)" } ?? "not a list") + ": what became of its items is not known")
    }
    var results: [Result<JSONObject, ServerRefusal>] = []
    for element in elements {
      if let success = element["success"]?.objectValue, element["error"] == nil {
        results.append(.success(success))
      } else if let error = element["error"] {
        results.append(.failure(ServerRefusal(batchItem: error)))
      } else {
        throw ParseProblem(description: "an element of the answer to a batch has neither 'success' nor 'error'")
      }
    }
    return results
  }
}
