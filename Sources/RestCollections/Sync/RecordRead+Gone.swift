import JSON
import MobileSync
import RecordScan
import RestClient

extension RecordRead {
  /// Whether the server no longer has a record.
  /// - Parameter record: JSON text, for the templates.
  /// - Throws: `RestError` for everything that does not say so: refusals, and the HTML page of a wrong address or a proxy.
  func isGone(_ record: [UInt8], _ target: RestTarget, _ client: CollectionClient) async throws -> Bool {
    let values = TemplateValues(vars: target.vars, record: record)
    let request: RestRequest
    do {
      let url = try TargetURL.expand(url, values, base: client.connection.settings.baseURL)
      var query: [(name: String, value: String)] = []
      for parameter in params { query.append((parameter.name, try parameter.value.expanded { values[$0] })) }
      request = RestRequest(.GET, URLQuery.adding(query, to: url))
    } catch {
      throw SyncError(.invalidTarget, "rest target: 'up.read' \(error.description)")
    }
    do {
      let response = try await client.send(request)
      return try response.body.withUnsafeBytes { try isGone($0, target) }
    } catch let error as RestError where error.code == .httpStatus && (error.status == 404 || error.status == 410) {
      let answer = PageAnswer(url: request.path, status: error.status ?? 404, headers: error.headers)
      guard answer.decides(bodyIsEmpty: error.body?.isEmpty ?? true) else { throw error }
      return true
    }
  }

  /// An answer without the record, and one with a mark of deletion.
  private func isGone(_ body: UnsafeRawBufferPointer, _ target: RestTarget) throws -> Bool {
    guard let value = try? JSONValue(parsing: body) else { return false }
    let text = value.serialized()
    return try text.withUnsafeBytes { (bytes) throws(ScanError) in
      guard let start = bytes.firstIndex(of: UInt8(ascii: "{")), start == 0 else { return true }
      let root = ScannedValue(kind: .object, start: 0, count: bytes.count)
      let item = try itemPath?.steps.map { (steps) throws(ScanError) in try root.value(at: steps, in: bytes) } ?? root
      guard item.kind == .object else { return true }
      guard let mark = target.items.deletion.path?.steps else { return false }
      for place in [root, item] {
        if ItemReader.isMark(try place.value(at: mark, in: bytes), target.items.deletion, bytes) { return true }
      }
      return false
    }
  }
}
