import Database
import JSON
import RecordScan

/// Runs the items of a collection in order, in one transaction with a savepoint for each.
struct CollectionRun {
  enum Outcome {
    case success(String)
    case upserted(String, created: Bool)
    /// A failed upsert, with whether it would have created a record.
    case failedUpsert(SandboxError, created: Bool)
    case failure(SandboxError)

    var isFailure: Bool {
      switch self {
      case .success, .upserted: return false
      case .failure, .failedUpsert: return true
      }
    }
  }
  private struct RolledBack: Error {}

  let call: Call
  let allOrNone: Bool
  var isUpsert = false

  func run<Item>(_ items: [Item], _ body: (Item) throws -> Outcome) throws -> ServerReply {
    var outcomes: [Outcome] = []
    do {
      try call.org.transaction {
        for (index, item) in items.enumerated() { outcomes.append(try self.item(item, index, body)) }
        if allOrNone, outcomes.contains(where: \.isFailure) { throw RolledBack() }
      }
    } catch is RolledBack {
      outcomes = outcomes.map(rolledBack)
    }
    return .json(200, .array(outcomes.map(json)))
  }

  private func item<Item>(_ item: Item, _ index: Int, _ body: (Item) throws -> Outcome) throws -> Outcome {
    let connection = call.org.connection
    try connection.execute("SAVEPOINT item")
    do {
      let outcome = try call.org.item(index) {
        try call.addingErrorPositions(at: [.member("records"), .element(index)]) { try body(item) }
      }
      if outcome.isFailure { try connection.execute("ROLLBACK TO item") }
      try connection.execute("RELEASE item")
      return outcome
    } catch {
      try connection.execute("ROLLBACK TO item; RELEASE item")
      if error is DatabaseError { throw error }
      let failure = error as? SandboxError ?? .unknown("\(error)")
      return isUpsert ? .failedUpsert(failure, created: false) : .failure(failure)
    }
  }

  private func rolledBack(_ outcome: Outcome) -> Outcome {
    let error = SandboxError(
      status: 400, code: "ALL_OR_NONE_OPERATION_ROLLED_BACK",
      message: "Record rolled back because not all records were valid and the request was using AllOrNone header",
      fields: [])
    switch outcome {
    case .success: return .failure(error)
    case .upserted(_, let created): return .failedUpsert(error, created: created)
    case .failure, .failedUpsert: return outcome
    }
  }

  private func json(_ outcome: Outcome) -> JSONValue {
    switch outcome {
    case .success(let id): return WriteResult.success(id)
    case .upserted(let id, let created): return WriteResult.success(id, created: created)
    case .failure(let error): return WriteResult.failure(error)
    case .failedUpsert(let error, let created): return WriteResult.failure(error, created: created)
    }
  }
}

/// A record of a collection upsert.
struct UpsertItem {
  let writer: RecordWriter
  let object: ObjectSchema
  let field: FieldSchema

  func run(_ record: JSONObject) throws -> CollectionRun.Outcome {
    let key = record.keys.first { $0.lowercased() == field.name.lowercased() }
    let given = key.flatMap { record[$0] } ?? .null, value = given.stringValue ?? (given.doubleValue == nil ? "" : given.text)
    var fields = record
    if let key { fields[key] = nil }
    let id = try existing(value)
    do {
      if let id {
        try writer.update(object, id: id, fields)
        return .upserted(id, created: false)
      }
      if field.type != .id { fields[field.name] = given }
      return .upserted(try writer.create(object, fields), created: true)
    } catch let error as SandboxError {
      return .failedUpsert(error, created: id == nil)
    }
  }

  private func existing(_ value: String) throws -> String? {
    if field.type == .id {
      guard !value.isEmpty else { return nil }
      let (id, _) = try CollectionRoutes.identified(["Id": .string(value)], object)
      try CollectionRoutes.requireLive(id, object, writer.reader)
      return id
    }
    guard !value.isEmpty else {
      throw SandboxError(
        status: 400, code: "MISSING_ARGUMENT", message: "\(field.name) not specified", fields: [field.name])
    }
    let ids = try writer.reader.ids(in: object, where: field, is: .text(value))
    guard ids.count <= 1 else {
      throw SandboxError(
        status: 400, code: "DUPLICATE_EXTERNAL_ID",
        message: "\(field.name): more than one record found for external id field: \(ids)", fields: [field.name])
    }
    return ids.first
  }
}
