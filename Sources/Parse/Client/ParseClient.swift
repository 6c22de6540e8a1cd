import JSON
import MobileSync
import RestClient
import Synchronization

/// A Parse server for programs: what is asked for and changed here happens on the server at once. Threads: any.
///
/// Errors are `RestError` with the server's code and text, and ``ParseProblem`` for what the server would refuse. Back-off and
/// repeats are those of syncs. A create whose answer is lost is looked for, where something identifies it, and never sent
/// blindly.
public final class ParseClient: Sendable {
  let connection: RestConnection
  let exchange: ParseExchange
  /// Files that were uploaded, by their digests: an object that is refused and saved again makes no second one.
  private let storedFiles = Mutex<[String: JSONValue]>([:])

  /// - Parameter connection: One of the kind `parse`.
  /// - Throws: ``ParseProblem``.
  public init(_ connection: RestConnection) throws(ParseProblem) {
    guard connection.settings.kind == .parse else {
      throw ParseProblem(
        description: "connection '\(connection.name)' is not one to a Parse server; give it \"kind\": \"parse\"")
    }
    self.connection = connection
    exchange = try ParseExchange(connection)
  }

  // MARK: Reading

  /// What a query finds.
  public struct Found: Sendable, Equatable {
    public let objects: [JSONObject]
    /// Of all matches, when the query counts them.
    public let count: Int?

    package init(objects: [JSONObject], count: Int?) {
      self.objects = objects
      self.count = count
    }
  }

  /// The page that a query asks for: 100 objects unless it has a `limit`.
  public func page(_ query: ParseQuery) async throws -> Found {
    let answer = try await exchange.query(try checked(query)).response.json()
    guard let list = answer["results"]?.arrayValue else {
      throw RestError(code: .invalidBody, message: "the answer to a query of class \(query.className) has no 'results'")
    }
    return Found(
      objects: list.compactMap(\.objectValue).map { Self.shown($0) }, count: answer["count"]?.integerValue.map { Int($0) })
  }

  /// The page as objects.
  public func find(_ query: ParseQuery) async throws -> [ParseObject] {
    try await page(query).objects.compactMap { Self.object(query.className, $0) }
  }

  /// All matches, page behind page in the order of their ids.
  public func findAll(_ query: ParseQuery) async throws -> [ParseObject] {
    try await allRows(query).compactMap { Self.object(query.className, $0) }
  }

  func allRows(_ query: ParseQuery) async throws -> [JSONObject] {
    let query = try checked(query)
    var rows: [JSONObject] = [], position: KeysetWalk.Position?
    let walk = KeysetWalk(query, by: .id, pageSize: Tuning.largestPage)
    while true {
      let page = try await exchange.objects(walk.page(after: position))
      guard let next = try walk.position(behind: page) else { return rows }
      guard next != position else {
        throw RestError(code: .invalidBody, message: "the server sends the same rows again: the walk cannot end")
      }
      rows += page.map { Self.shown($0) }
      position = next
    }
  }

  /// The first match; nil without one.
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
      throw RestError(code: .invalidBody, message: "the answer to a count of class \(query.className) has no 'count'")
    }
    return count
  }

  /// - Throws: `RestError` with status 404 and code 101 for an object that is not there, or that the user may not see.
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
      throw response.response.invalidBody("the answer is not an object with an 'objectId'")
    }
    return object
  }

  /// The objects that a relation of another object leads to.
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

  /// Tokens are the connection's own.
  static func shown(_ row: JSONObject) -> JSONObject { row.filtered { key, _ in key != "sessionToken" } }

  // MARK: Writing

  /// Saves objects, those that others point to first.
  /// - Returns: One for each, in order. What was saved before a request failed stays saved.
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

  /// - Throws: ``ParseSaveError``.
  public func save(_ object: ParseObject) async throws -> ParseObject {
    guard let saved = await save([object]).first else { return object }
    return try saved.get()
  }

  /// Stores a file that a value holds, once.
  func stored(_ file: PendingFile) async throws -> JSONValue {
    if let known = storedFiles.withLock({ $0[file.digest] }) { return known }
    let value = try await exchange.upload(file)
    storedFiles.withLock { files in
      if files.count >= Tuning.rememberedFiles { files.removeAll() }
      files[file.digest] = value
    }
    return value
  }

  /// An object that is gone already counts as deleted.
  public func delete(_ className: String, _ objectId: String) async throws {
    do {
      _ = try await exchange.send(ObjectRequest.delete(className, objectId).request, as: .delete)
    } catch let error as RestError {
      guard ServerRefusal(error)?.action(for: .delete) == .done else { throw error }
    }
  }
}

/// Why one object was not saved.
public struct ParseSaveError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The server's; nil where it gave none, and for what it was not asked.
  public let code: Int?
  public let message: String
  /// The server may have made it all the same, and nothing tells.
  public let isUnknown: Bool
  /// The id of a new object that was made; what belongs into a later request, such as links, is missing.
  public internal(set) var savedId: String?
  /// Why a request as a whole failed.
  public let cause: RestError?
  /// Fields whose files are on the server already, as a column holds them.
  public internal(set) var uploaded = JSONObject()

  init(code: Int?, message: String, isUnknown: Bool = false, savedId: String? = nil) {
    (self.code, self.message, self.isUnknown) = (code, message, isUnknown)
    (self.savedId, cause) = (savedId, nil)
  }

  init(_ cause: RestError?, isUnknown: Bool = false, savedId: String? = nil) {
    code = cause.flatMap { ServerRefusal($0)?.code }
    let reason = cause?.message ?? "the object was not sent"
    message = isUnknown ? "\(reason); it may have been saved all the same: look before it is saved again" : reason
    self.isUnknown = isUnknown
    self.savedId = savedId
    self.cause = cause
  }

  public var description: String { message }
}

extension RestError {
  /// The server's own code, such as 101; nil where it gave none.
  public var parseCode: Int? { ServerRefusal(self)?.code }
}
