import JSON
import MobileSync
import RecordScan
import RestClient

/// Sends requests for single records, and separates errors of one record from errors that end the
/// run.
struct RecordExchange: Sendable {
  let target: RestTarget
  let up: UploadRules
  let connection: RestConnection
  let context: UploadContext

  init(_ target: RestTarget, _ up: UploadRules, _ connection: RestConnection, _ context: UploadContext) {
    self.target = target
    self.up = up
    self.connection = connection
    self.context = context
  }

  enum Reply: Sendable {
    case answered(ConnectionResponse)
    /// The request failed for this record only; 404 and 410 mean that the record is gone.
    case refused(RestError)
  }

  /// A record on the server.
  struct Found: Sendable {
    /// The members to store in the soup.
    let members: JSONObject
    let tag: String?
  }

  enum ReadResult: Sendable {
    case found(Found)
    /// - Parameter isDeleted: Whether the server says that it was there: with 410, or with a record that is marked.
    case gone(isDeleted: Bool)
    case refused(RestError)
  }

  // MARK: Requests

  /// Sends a request for one record.
  ///
  /// - Parameters:
  ///   - conditions: Headers that make the server reject outdated changes.
  ///   - expected: Error statuses not to log as warnings; a failed condition is always expected.
  ///   - mayLackCondition: Whether the caller handles a server that requires a condition.
  /// - Throws: `RestError` if the run must end.
  func send(
    _ request: RestRequest, _ headers: [HeaderField], _ row: UploadRow, conditions: [TextPair] = [],
    expecting expected: Set<Int> = [], mayLackCondition: Bool = false
  ) async throws -> Reply {
    try context.control.check()
    var request = request, secrets = ownHeaders
    let values = row.values
    let filled = try filled { () throws(URITemplate.Problem) in try RecordHeaders(headers, values) }
    secrets += filled.secrets
    for pair in filled.texts + conditions { request.headers.append((pair.name, pair.value)) }
    let hasCondition = !conditions.isEmpty || request.isConditional
    var options = ConnectionOptions(cache: .bypass, sameOrigin: target.staysOnOrigin, headers: secrets)
    options.usesResponseCache = false
    options.pauseMs = up.pauseMs
    options.expectedStatuses = expected.union(hasCondition ? [412] : mayLackCondition ? [412, 428] : [])
    switch try await answer(to: request, options) {
    case .success(let response): return .answered(response)
    case .failure(let error):
      guard error.code == .httpStatus else { throw error }
      do throws(RestError) {
        return .refused(
          try concerningTheRecord(error, request, hasCondition: hasCondition, mayLackCondition: mayLackCondition))
      } catch let problem {
        throw problem.following(lostAttempt: error.followsLostAttempt)
      }
    }
  }

  /// The target's headers. Without secrets, if the connection differs from the list's.
  private var ownHeaders: [ConnectionSettings.Header] {
    let isElsewhere = connection.name != target.connection
    return target.headers.filter { !isElsewhere || !$0.isSecret }.map(\.setting)
  }

  /// The only place where requests of uploads leave.
  private func answer(
    to request: RestRequest, _ options: ConnectionOptions
  ) async throws -> Result<ConnectionResponse, RestError> {
    try context.intent.check(request, to: connection.name)
    do throws(RestError) {
      return .success(try await connection.send(request, options))
    } catch {
      return .failure(error)
    }
  }

  /// Returns the error if it concerns only the record.
  ///
  /// - Throws: `RestError` for all other errors.
  private func concerningTheRecord(
    _ error: RestError, _ request: RestRequest, hasCondition: Bool, mayLackCondition: Bool
  ) throws(RestError) -> RestError {
    let status = error.status ?? 0, place = "\(request.method.rawValue) \(Redaction.url(request.path))"
    let answer = PageAnswer(url: request.path, status: status, headers: error.headers)
    switch status {
    case 412 where !hasCondition && mayLackCondition, 428 where !hasCondition && mayLackCondition: return error
    case 404, 410:
      guard answer.decides(bodyIsEmpty: error.body?.isEmpty ?? true) else {
        throw RecordExchange.misconfigured(
          "\(place) was answered \(status) with \(answer.mediaType ?? "a body without a Content-Type"), not JSON: "
            + "the URL of the target is wrong, or a proxy answered; nothing was changed")
      }
      return error
    case 405, 501:
      throw RecordExchange.misconfigured(
        "\(place) was answered \(status): the server does not support this; check 'method' and 'url'")
    case 428:
      throw RecordExchange.misconfigured(
        "\(place) was answered 428: the server requires a condition; set 'precondition' to 'ifMatch'")
    case 412 where !hasCondition:
      throw RecordExchange.misconfigured(
        "\(place) had no condition and was answered 412: the server requires one; set 'precondition' to 'ifMatch'")
    case 401, 403, 407, 408, 420, 425, 429: throw error
    case 400..<500: return error
    default: throw error
    }
  }

  /// Makes the error for a server that requires a condition and gives no tag.
  func conditionRequired(_ error: RestError) -> RestError {
    RecordExchange.misconfigured(
      "a write without a condition was answered \(error.status ?? 412), and the record has no tag to send; "
        + "set 'tag', or 'precondition' to 'ifUnmodifiedSince'")
  }

  /// Makes an error about the target's definition, which ends the run.
  static func misconfigured(_ message: String) -> RestError {
    RestError(code: .httpStatus, message: "rest target: \(message)", outcome: .answered)
  }

  /// Expands templates.
  ///
  /// - Throws: ``MissingValue``.
  func filled<T>(_ body: () throws(URITemplate.Problem) -> T) throws(MissingValue) -> T {
    do {
      return try body()
    } catch {
      throw MissingValue(message: error.description)
    }
  }

  /// The record lacks a value that a template needs, so it cannot be sent.
  struct MissingValue: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
  }

  /// Expands the URL and the parameters of a request.
  func url(_ template: URITemplate, _ params: [RecordRead.Parameter], _ row: UploadRow) throws(MissingValue) -> String {
    let values = row.values, base = connection.settings.baseURL
    return try filled { () throws(URITemplate.Problem) in
      let url = try TargetURL.expand(template, values, base: base)
      var query: [(name: String, value: String)] = []
      for parameter in params { query.append((parameter.name, try parameter.value.expanded { values[$0] })) }
      return URLQuery.adding(query, to: url)
    }
  }

  // MARK: Reading

  /// Reads one record.
  ///
  /// - Throws: `RestError` if the run must end.
  func read(_ read: RecordRead, _ row: UploadRow) async throws -> ReadResult {
    let request = RestRequest(.GET, try url(read.url, read.params, row))
    switch try await send(request, read.headers, row, expecting: [404, 410]) {
    case .refused(let error): return [404, 410].contains(error.status) ? .gone(isDeleted: error.status == 410) : .refused(error)
    case .answered(let response):
      guard response.body.count > 0, let json = try? response.body.json() else {
        throw response.response.invalidBody("expected a record")
      }
      let item: JSONObject
      switch read.content(of: json) {
      case .record(let found): item = found
      case .none: return .gone(isDeleted: false)
      case .unreadable:
        return .refused(
          response.response.invalidBody("'itemPath' (\(read.itemPath?.text ?? "$")) does not lead to a record"))
      }
      guard !target.items.deletion.isMarked(json, item) else { return .gone(isDeleted: true) }
      let id = target.items.idField.value(in: .object(item))?.idText
      if let id, let own = row.record(id: target.items.idField), own != id {
        return .refused(
          RestError(code: .invalidBody, message: "the server answered with the record '\(id)' instead of '\(own)'"))
      }
      return .found(Found(members: try members(item, row), tag: tag(in: item, response)))
    }
  }

  /// Returns the tag of a record, from its members or from the headers of its own response.
  func tag(in item: JSONObject, _ response: ConnectionResponse) -> String? {
    up.tag.path.value(in: .object(item), of: PageAnswer(response))?.idText
  }

  /// Returns the members to store in the soup, as ``RecordShape`` makes them.
  func members(_ item: JSONObject, _ row: UploadRow) throws -> JSONObject {
    try RecordShape.members(of: item, target)
  }
}

/// Converts a single record as a list's items are converted.
enum RecordShape {
  /// Removes omitted members, adds mapped ones, and turns the id into text.
  static func members(of item: JSONObject, _ target: RestTarget) throws -> JSONObject {
    var item = item
    let keys = target.items.idField.memberNames ?? []
    if let id = target.items.idField.value(in: .object(item))?.idText { item.set(.string(id), at: keys) }
    let editor = ItemEditor(target.items), text = JSONValue.object(item).serialized()
    guard !editor.changesNothing else { return item }
    let edited = try text.withUnsafeBytes { (bytes) throws(ScanError) in
      try editor.edited(ScannedValue(kind: .object, start: 0, count: bytes.count), quoting: nil, in: bytes)
    }
    return try edited.flatMap { try JSONValue(parsing: $0).objectValue } ?? item
  }
}

extension RestRequest {
  /// Whether the request has a condition on the server's current version.
  fileprivate var isConditional: Bool {
    headers.contains { ["if-match", "if-none-match", "if-unmodified-since", "if-modified-since"].contains($0.name.lowercased()) }
  }
}

extension UploadRow {
  /// Returns the id that the record has, or will have after its create.
  func record(id path: ValuePath) -> String? { path.value(in: .object(record))?.idText }
}

extension ValuePath {
  static let root = ValuePath(text: "$", origin: .body([]))
}
