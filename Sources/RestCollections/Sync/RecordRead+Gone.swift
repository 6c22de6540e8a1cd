import JSON
import MobileSync
import RestClient

extension RecordRead {
  /// Whether the server no longer has a record.
  ///
  /// - Parameter record: The record as JSON text, for the templates.
  /// - Throws: `RestError` if the response does not answer the question, such as a refusal or the
  ///   HTML page of a wrong address or a proxy.
  func isGone(_ id: String, _ record: [UInt8], _ target: RestTarget, _ client: CollectionClient) async throws -> Bool {
    let values = TemplateValues(vars: target.vars, record: record)
    let request: RestRequest, more: RecordHeaders
    do {
      let url = try TargetURL.expand(url, values, base: client.connection.settings.baseURL)
      var query: [(name: String, value: String)] = []
      for parameter in params { query.append((parameter.name, try parameter.value.expanded { values[$0] })) }
      request = RestRequest(.GET, URLQuery.adding(query, to: url))
      more = try RecordHeaders(headers, values)
    } catch {
      throw SyncError(.invalidTarget, "rest target: 'up.read' \(error.description)")
    }
    do {
      let response = try await client.send(request, more, expecting: [404, 410])
      guard PageAnswer(response).isJSON, let json = try? response.body.json() else { return false }
      return isGone(id, json, target)
    } catch let error as RestError where error.code == .httpStatus && (error.status == 404 || error.status == 410) {
      let answer = PageAnswer(url: request.path, status: error.status ?? 404, headers: error.headers)
      guard answer.decides(bodyIsEmpty: error.body?.isEmpty ?? true) else { throw error }
      return true
    }
  }

  /// Whether the response says that there is no such record, or has its tombstone. A different
  /// record proves nothing.
  private func isGone(_ id: String, _ json: JSONValue, _ target: RestTarget) -> Bool {
    switch content(of: json) {
    case .none: return true
    case .unreadable: return false
    case .record(let item):
      if let found = target.items.idField.value(in: .object(item))?.idText, found != id { return false }
      return target.items.deletion.isMarked(json, item)
    }
  }

  /// What a response with a status of success says about a record.
  enum Content: Sendable, Equatable {
    case record(JSONObject)
    /// The server has no such record: null at the path, or a list at it that lacks the element.
    case none
    /// Neither a record nor a statement that there is none, such as `{"errors": …}`.
    case unreadable
  }

  func content(of json: JSONValue) -> Content {
    let path = itemPath ?? ValuePath.root
    switch path.value(in: json) {
    case .object(let item)?: return .record(item)
    case .null?: return .none
    case nil where path.isPastTheEndOfAList(in: json): return .none
    default: return .unreadable
    }
  }
}

extension ItemRules.Deletion {
  /// - Parameter root: The response that contains the item.
  func isMarked(_ root: JSONValue, _ item: JSONObject) -> Bool {
    guard let path else { return false }
    return [root, .object(item)].contains { place in
      guard let mark = path.value(in: place) else { return false }
      return values?.contains(mark) ?? (mark != .null && mark != false)
    }
  }
}
