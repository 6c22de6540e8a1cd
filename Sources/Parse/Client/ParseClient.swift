import JSON
import MobileSync
import RestClient
import Synchronization

/// Reads and changes objects on a Parse server directly. Threads: any.
///
/// Errors are `RestError` with the server's code and text, and ``ParseProblem`` for requests that
/// the server would reject. Back-off and retries are the same as in syncs. If the response to a
/// create is lost, the client looks for the object if it can be identified, and never repeats the
/// request blindly.
public final class ParseClient: Sendable {
  let connection: RestConnection
  let exchange: ParseExchange
  /// Uploaded files, by digest, so that saving an object again after a refusal does not upload them
  /// twice.
  private let storedFiles = Mutex<IdMap<JSONValue>>([:])

  /// Makes a client.
  ///
  /// - Parameter connection: A connection of the kind `parse`.
  /// - Throws: ``ParseProblem`` for any other connection.
  public init(_ connection: RestConnection) throws(ParseProblem) {
    guard connection.settings.kind == .parse else {
      throw ParseProblem(
        description: "connection '\(connection.name)' does not lead to a Parse server; give it \"kind\": \"parse\"")
    }
    self.connection = connection
    exchange = try ParseExchange(connection)
  }

  // MARK: Reading

  /// The result of a query.
  public struct Found: Sendable, Equatable {
    public let objects: [JSONObject]
    /// The number of all matches, if the query counts them.
    public let count: Int?

    package init(objects: [JSONObject], count: Int?) {
      self.objects = objects
      self.count = count
    }
  }

  /// Returns the page that a query asks for: 100 objects unless it has a `limit`.
  public func page(_ query: ParseQuery) async throws -> Found {
    let answer = try await exchange.query(try checked(query)).response.json()
    guard let list = answer["results"]?.arrayValue else {
      throw RestError(code: .invalidBody, message: "the response to a query of class \(query.className) has no 'results'")
    }
    return Found(
      objects: list.compactMap(\.objectValue).map { Self.shown($0) },
      count: answer["count"]?.integerValue.map { Int(clamping: $0) })
  }

  /// Returns the page as objects.
  public func find(_ query: ParseQuery) async throws -> [ParseObject] {
    try await page(query).objects.compactMap { Self.object(query.className, $0) }
  }

  /// Returns all matches, page by page in the order of their ids.
  public func findAll(_ query: ParseQuery) async throws -> [ParseObject] {
    try await allRows(query).compactMap { Self.object(query.className, $0) }
  }

  func allRows(_ query: ParseQuery) async throws -> [JSONObject] {
    let query = try checked(query)
    var rows: [JSONObject] = [], position: KeysetWalk.Position?
    let walk = KeysetWalk(query, by: .id, pageSize: Tuning.largestPage)
    while true {
      let page = try await exchange.objects(walk.page(after: position))
      guard let next = try walk.position(after: page) else { return rows }
      guard next != position else {
        throw RestError(code: .invalidBody, message: "the server keeps sending the same rows, so the query would never end")
      }
      rows += page.map { Self.shown($0) }
      position = next
    }
  }

  /// Returns the first match; nil if there is none.
  public func first(_ query: ParseQuery) async throws -> ParseObject? {
    var query = query
    query.limit = 1
    return try await find(query).first
  }

  public func count(_ query: ParseQuery) async throws -> Int {
    var query = query
    query.limit = 0
    query.counts = true
    guard let count = try await page(query).count else {
      throw RestError(code: .invalidBody, message: "the response to a count of class \(query.className) has no 'count'")
    }
    return count
  }

  /// Reads one object.
  ///
  /// - Throws: `RestError` with status 404 and code 101 if the object does not exist or the user
  ///   may not read it.
  public func fetch(_ className: String, _ objectId: String, include: [String] = [], keys: [String]? = nil) async throws
    -> ParseObject
  {
    try ParseNames.checkClass(className)
    var parameters: [(name: String, value: String)] = []
    if !include.isEmpty { parameters.append(("include", include.joined(separator: ","))) }
    if let keys { parameters.append(("keys", keys.joined(separator: ","))) }
    let path = ParseNames.path(of: className, id: PercentEncoding.encode(objectId))
    let response = try await exchange.send(RestRequest(.GET, path, query: parameters), as: .read)
    guard let row = try response.response.json().objectValue, let object = Self.object(className, Self.shown(row)) else {
      throw response.response.invalidBody("the response is not an object with an 'objectId'")
    }
    return object
  }

  /// Returns the objects in a relation of another object.
  public func related(_ className: String, to owner: ParsePointer, by field: String) async throws -> [ParseObject] {
    try await findAll(ParseQuery(className, .related(to: owner, by: field)))
  }

  private func checked(_ query: ParseQuery) throws(ParseProblem) -> ParseQuery {
    var query = query
    query.condition = ParseCondition(try ConditionCheck(relationFields: []).checked(query.condition.json))
    for name in query.order where !ParseNames.isPath(name.hasPrefix("-") ? String(name.dropFirst()) : name) {
      throw ParseProblem(description: "order: '\(name)' is not a field of class \(query.className)")
    }
    return query
  }

  static func object(_ className: String, _ row: JSONObject) -> ParseObject? {
    row["objectId"]?.stringValue.map { ParseObject(className, objectId: $0, row) }
  }

  /// Removes session tokens, which only the connection may hold.
  static func shown(_ row: JSONObject) -> JSONObject { row.filtered { key, _ in key != "sessionToken" } }

  // MARK: Writing

  /// Saves objects, starting with those that others point to.
  ///
  /// - Returns: One result for each object, in order. Objects saved before a request failed stay
  ///   saved.
  public func save(_ objects: [ParseObject], clientKeyField: String? = nil) async
    -> [Result<ParseObject, ParseSaveError>]
  {
    let saved = await DeepSave(client: self, clientKeyField: clientKeyField).save(
      objects.map { object in
        DeepSave.Node(className: object.className, id: object.objectId, body: object.changes, known: object.expected)
      })
    return zip(objects, saved).map { object, result in
      result.map { saved in
        var object = object
        object.take(saved)
        return object
      }
    }
  }

  /// Saves one object.
  ///
  /// - Throws: ``ParseSaveError``.
  public func save(_ object: ParseObject) async throws -> ParseObject {
    guard let saved = await save([object]).first else { return object }
    return try saved.get()
  }

  /// Uploads a file, or returns the value of an earlier upload of the same file.
  func stored(_ file: PendingFile) async throws -> JSONValue {
    if let known = storedFiles.withLock({ $0[file.digest] }) { return known }
    let value = try await exchange.upload(file)
    storedFiles.withLock { files in
      if files.count >= Tuning.rememberedFiles { files.removeAll() }
      files[file.digest] = value
    }
    return value
  }

  /// Deletes an object. It is not an error if the object is already gone.
  ///
  /// - Throws: `RestError` with code 101 if the object is readable and the user may not delete it.
  public func delete(_ className: String, _ objectId: String) async throws {
    do {
      _ = try await exchange.send(ObjectRequest.delete(className, objectId).request, as: .delete)
    } catch let error as RestError {
      guard let refusal = ServerRefusal(error), refusal.action(for: .delete) == .done else { throw error }
      guard try await exchange.readable([objectId], in: className).isEmpty else {
        throw error.recoded(.httpStatus, refusal.ofKeptObject.message)
      }
    }
  }
}

/// Why an object was not saved.
public struct ParseSaveError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The server's error code; nil if it sent none, or if nothing was sent.
  public let code: Int?
  public let message: String
  /// True if the object may have been saved nevertheless, and this cannot be determined.
  public let isUnknown: Bool
  /// The id of a new object that was created, although a later request failed, for example for its
  /// relations.
  public internal(set) var savedId: String?
  /// The failure of a whole request.
  public let cause: RestError?
  /// Fields whose files were uploaded, in the form of a column value.
  public internal(set) var uploaded = JSONObject()

  init(code: Int?, message: String, isUnknown: Bool = false, savedId: String? = nil) {
    (self.code, self.message, self.isUnknown) = (code, message, isUnknown)
    (self.savedId, cause) = (savedId, nil)
  }

  init(_ cause: RestError?, isUnknown: Bool = false, savedId: String? = nil) {
    code = cause.flatMap { ServerRefusal($0)?.code }
    let reason = cause?.message ?? "the object was not sent"
    message = isUnknown ? "\(reason); it may have been saved nevertheless; check before you save it again" : reason
    self.isUnknown = isUnknown
    self.savedId = savedId
    self.cause = cause
  }

  public var description: String { message }
}

extension RestError {
  /// The server's error code, such as 101; nil if it sent none.
  public var parseCode: Int? { ServerRefusal(self)?.code }
}
