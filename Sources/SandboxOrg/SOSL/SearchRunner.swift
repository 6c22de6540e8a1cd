import Database
import JSON

/// Runs searches and renders their results. On the org's queue.
struct SearchRunner {
  let org: Org
  /// Such as `v66.0`.
  let version: String
  let userId: String

  private var versionNumber: Int { Int(version.dropFirst().prefix { $0 != "." }) ?? Tuning.apiVersions.upperBound }

  func run(_ statement: String) throws -> [UInt8] {
    let characters = Array(statement.unicodeScalars)
    do {
      return try answer(try SOSLParser.parse(characters))
    } catch let error as SOQLError {
      throw error.answer(to: characters)
    }
  }

  /// - Throws: `SOQLError` for names that are not in the schema; ``SandboxError`` if SQLite finds
  ///   the statement too large.
  func answer(_ search: SearchStatement) throws -> [UInt8] {
    var records: [UInt8] = []
    var left = min(search.limit ?? Tuning.searchRows, Tuning.searchRows)
    let returning = search.returning ?? everything
    // Check all names before building an index.
    let plans = try returning.map { returned in (returned, try plan(returned)) }
    for (returned, plan) in plans where left > 0 {
      let limit = min(left, share(of: returned, in: search, objects: returning.count))
      left -= try append(returned, plan, search, limit: limit, to: &records)
    }
    if versionNumber < Tuning.wrappedSearchVersion { return [UInt8(ascii: "[")] + records + [UInt8(ascii: "]")] }
    let head = Array("{\"searchRecords\":[".utf8)
    return head + records + Array("]".utf8) + labels(search, plans.map(\.1.object)) + Array("}".utf8)
  }

  /// The objects of a search without RETURNING.
  private var everything: [SearchStatement.Returned] {
    org.schema.objects.filter { $0.traits.contains(.search) && !Self.onlyByName.contains($0.name) }.map { object in
      let name = Name(text: object.name, position: 0)
      let query = SOQLQuery(selection: .items([SOSLParser.id(at: 0)]), object: FieldPath(names: [name]))
      return SearchStatement.Returned(object: name, query: query)
    }
  }

  /// Objects that are only searched if RETURNING names them. Source: Salesforce's SOSL reference.
  private static let onlyByName: Set<String> = ["CaseComment", "ContentVersion", "Document", "FeedItem", "Product2", "Solution"]

  /// Returns the maximum number of rows for an object without its own limit.
  private func share(of returned: SearchStatement.Returned, in search: SearchStatement, objects: Int) -> Int {
    if let limit = returned.query.limit { return limit }
    if objects > 1 { return min(Tuning.searchRows / objects, Tuning.searchRowsOfObject) }
    let isRefined = returned.query.condition != nil || !returned.query.order.isEmpty || search.limit != nil
    return isRefined ? Tuning.searchRows : Tuning.searchRowsOfObject
  }

  // MARK: One object

  private struct Plan {
    let object: ObjectSchema
    let record: RecordPlan
    let sql: String
    let bindings: [SQLValue]
  }

  private func plan(_ returned: SearchStatement.Returned) throws -> Plan {
    guard let object = org.schema.object(returned.object.text) else { throw SOQLError.noObject(returned.object) }
    var compiler = org.compiler(for: userId)
    compiler.version = versionNumber
    guard case .items(let items) = returned.query.selection else { throw SOQLError.malformed("unexpected COUNT()") }
    if let offset = returned.query.offset, offset > Tuning.maximumOffset {
      throw SOQLError(
        code: "NUMBER_OUTSIDE_VALID_RANGE", message: "Maximum SOQL offset allowed is \(Tuning.maximumOffset)")
    }
    let record = try SelectCompiler(compiler: compiler, query: returned.query, object: object).plan(items, level: 1)
    let table = SearchIndex(connection: org.connection, object: object).table
    let (sql, bindings) = try compiler.rows(
      returned.query, object, owner: "rowid IN (SELECT rowid FROM \(table) WHERE \(table) MATCH ?)")
    return Plan(object: object, record: record, sql: sql, bindings: bindings)
  }

  /// - Returns: The number of records appended.
  private func append(
    _ returned: SearchStatement.Returned, _ plan: Plan, _ search: SearchStatement, limit: Int, to out: inout [UInt8]
  ) throws -> Int {
    guard !SearchIndex.fields(of: plan.object).isEmpty else { return 0 }
    let index = SearchIndex(connection: org.connection, object: plan.object)
    try index.prepare()
    guard let match = try index.match(search.expression, in: search.scope) else { return 0 }
    let rows = try QueryRunner.prepared(plan.sql, [.text(match)] + plan.bindings, on: org)
    var found: [Int64] = []
    while found.count < limit, try rows.step() { found.append(rows.int64(0)) }
    guard !found.isEmpty else { return 0 }
    if !out.isEmpty { out.append(UInt8(ascii: ",")) }
    let context = RenderContext(org: org, version: version, userId: userId)
    let statement = try QueryRunner.prepared(plan.record.sql, on: org)
    try RecordRenderer(plan.record, context).append(found[...], with: statement, to: &out)
    return found.count
  }

  // MARK: Labels

  /// Renders `WITH METADATA`. The key's spelling is Salesforce's.
  private func labels(_ search: SearchStatement, _ objects: [ObjectSchema]) -> [UInt8] {
    guard search.wantsLabels else { return [] }
    let entities = zip(search.returning ?? everything, objects).map { returned, object -> JSONValue in
      var fields: [JSONValue] = []
      if case .items(let items) = returned.query.selection {
        for case .expression(.field(let path), _) in items {
          guard path.names.count == 1, let field = object.field(path.text) else { continue }
          fields.append(.object(["name": .string(field.name), "label": .string(field.label)]))
        }
      }
      return .object(["entityName": .string(object.name), "fieldMetadata": .array(fields)])
    }
    let metadata = JSONValue.object(["entityetadata": .array(entities)])
    return Array(",\"metadata\":".utf8) + metadata.serialized()
  }
}
