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

  /// Whether the response lacks the record or has its tombstone. A different record proves nothing.
  private func isGone(_ id: String, _ json: JSONValue, _ target: RestTarget) -> Bool {
    guard let item = item(in: json) else { return true }
    if let found = target.items.idField.value(in: .object(item))?.idText, found != id { return false }
    return target.items.deletion.isMarked(json, item)
  }

  /// Returns the record in the response; nil if there is none.
  func item(in json: JSONValue) -> JSONObject? { (itemPath ?? ValuePath.root).value(in: json)?.objectValue }
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
