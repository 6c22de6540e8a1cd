import JSON
import SandboxServer

/// Runs the requests of a batch, independently or as one transaction.
struct BatchRun {
  let call: ParseCall
  let routes: RouteTable<ParseHandler>

  private struct Item {
    let handler: ParseHandler?
    var call: ParseCall
    /// Why the item fails without running.
    var failure: ParseError?
  }

  func answer(_ state: inout ParseState) throws(ParseError) -> ParseAnswer {
    guard let requests = call.body["requests"]?.arrayValue else {
      throw ParseError(.invalidJSON, "requests must be an array")
    }
    var items: [Item] = []
    var refusal: ParseError?
    for request in requests {
      do throws(ParseError) {
        items.append(try item(request))
      } catch {
        // The requests before this one have already started.
        refusal = error
        break
      }
    }
    let before = call.body["transaction"] == true ? state : nil
    let results = run(items, &state)
    if let before, refusal != nil || results.contains(where: { $0["error"] != nil }) {
      state = before
      throw refusal ?? .unexpected("transaction aborted")
    }
    if let refusal { throw refusal }
    return ParseAnswer(.array(results))
  }

  // MARK: Routing

  /// - Throws: ``ParseError`` 107 for an unroutable path, which fails the whole batch.
  private func item(_ request: JSONValue) throws(ParseError) -> Item {
    let path = request["path"]?.stringValue ?? "", method = request["method"]?.stringValue ?? ""
    guard path.hasPrefix(call.mountPath) else {
      throw ParseError(.invalidJSON, "cannot route batch path \(path)")
    }
    let inner = path.dropFirst(call.mountPath.count)
    var item = call
    item.method = method
    item.segments = URLCoding.segments(inner)
    item.query = [:]
    item.body = request["body"]?.objectValue ?? [:]
    if item.segments == ["batch"], method == "POST" {
      let failure = ParseError.unexpected("Cannot read properties of undefined (reading 'endsWith')")
      return Item(handler: nil, call: item, failure: failure)
    }
    guard case .found(let match) = routes.outcome(method, item.segments) else {
      throw ParseError(.invalidJSON, "cannot route \(method) \(inner.hasPrefix("/") ? "" : "/")\(inner)")
    }
    item.parameters = match.parameters
    var failure: ParseError?
    if method == "GET", request["body"] == nil {
      failure = .unexpected("Cannot read properties of undefined (reading 'where')")
    }
    return Item(handler: match.handler, call: item, failure: failure)
  }

  // MARK: Running

  /// Runs the requests. The results are in the order of the requests, even if that is not the order
  /// of execution.
  private func run(_ items: [Item], _ state: inout ParseState) -> [JSONValue] {
    var results = [JSONValue](repeating: .null, count: items.count)
    for index in order(items.count) { results[index] = result(items[index], &state) }
    return results
  }

  private func order(_ count: Int) -> [Int] {
    var order = Array(0..<count)
    guard let draw = call.fault("shuffledBatch"), count > 1 else { return order }
    var random = SeedRandom(draw.seed)
    for index in stride(from: count - 1, to: 0, by: -1) { order.swapAt(index, random.below(index + 1)) }
    return order
  }

  private func result(_ item: Item, _ state: inout ParseState) -> JSONValue {
    do {
      if let failure = item.failure { throw failure }
      guard let handler = item.handler else { throw ParseError.unexpected("no handler") }
      return ["success": try handler(item.call, &state).value]
    } catch {
      return ["error": (error as? ParseError ?? .unexpected("\(error)")).item]
    }
  }
}
