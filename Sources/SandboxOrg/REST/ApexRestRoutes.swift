import JSON

/// Serves `/services/apexrest/…`: the org's own code.
///
/// The only built-in class is one for hybrid clients: `simpleAccount` creates, reads, renames and
/// deletes accounts, with its own field names.
enum ApexRestRoutes {
  static let className = "simpleAccount"

  static func add(to table: inout RouteTable<SalesforceService.Endpoint>) {
    let root = "/services/apexrest/" + className
    table.open("POST", root) { call in .json(200, try simple(try create(call), call)) }
    table.open("GET", root, list)
    table.open("GET", root + "/:id") { call in .json(200, try simple(try account(call), call)) }
    table.open("PATCH", root + "/:id", rename)
    table.open("DELETE", root + "/:id", delete)
  }

  private static func create(_ call: Call) throws -> String {
    let name = try call.jsonObject()["accountName"] ?? .null
    return try run { try call.org.transaction { try call.writer.create(try object(call), ["Name": name]) } }
  }

  private static func rename(_ call: Call) throws -> ServerReply {
    let id = try account(call)
    let name = try call.jsonObject()["accountName"] ?? .null
    try run { try call.org.transaction { try call.writer.update(try object(call), id: id, ["Name": name]) } }
    return .json(200, try simple(id, call))
  }

  private static func delete(_ call: Call) throws -> ServerReply {
    let id = try account(call)
    try run { try call.org.transaction { try call.writer.delete(try object(call), id: id) } }
    return .empty(204)
  }

  private static func list(_ call: Call) throws -> ServerReply {
    let object = try object(call)
    let ids = try call.org.connection.statement(
      "SELECT Id FROM \(object.table) WHERE IsDeleted = 0 ORDER BY Id LIMIT \(Tuning.apexListRecords)")
    defer { ids.reset() }
    var found: [String] = []
    while try ids.step() { found.append(ids.string(0)) }
    let records = try found.map { try simple($0, call) }
    return .json(200, .object(["totalSize": .integer(Int64(records.count)), "records": .array(records)]))
  }

  private static func object(_ call: Call) throws(SandboxError) -> ObjectSchema { try call.org.object("Account") }

  private static func account(_ call: Call) throws -> String {
    guard let id = RecordID.normalized(call.parameter("id")), try call.reader.presence(of: id, in: try object(call)) == .live
    else { throw apexError("System.QueryException: List has no rows for assignment to SObject") }
    return id
  }

  private static func simple(_ id: String, _ call: Call) throws -> JSONValue {
    let name = try call.org.connection.firstValue("SELECT Name FROM \(try object(call).table) WHERE Id = ?", [.text(id)])
    guard case .text(let text)? = name else { throw SandboxError.notFound() }
    return .object(["accountId": .string(id), "accountName": .string(text)])
  }

  /// Converts uncaught errors to `APEX_ERROR`.
  private static func run<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as SandboxError {
      throw apexError("System.DmlException: \(error.code), \(error.message)")
    }
  }

  private static func apexError(_ message: String) -> SandboxError {
    SandboxError(status: 500, code: "APEX_ERROR", message: message)
  }
}
