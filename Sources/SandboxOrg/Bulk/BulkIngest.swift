import Database
import JSON

/// Runs ingest jobs: reads the uploaded CSV record by record and writes the rows.
struct BulkIngest {
  let org: Org
  let store: BulkStore

  func advance(_ job: inout BulkJob) throws {
    guard let object = org.schema.object(job.object) else { return job.fail("InvalidEntity : \(job.object)") }
    let reader = CSVReader(delimiter: job.delimiter.byte)
    let (bytes, isLast) = try store.input(of: job.id, from: job.position, count: Tuning.bulkWindowBytes)
    var at = job.position == 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    let start = job.position
    var taken = 0
    while taken < Tuning.bulkRecordsPerSlice, job.state == .inProgress {
      guard at < bytes.count else {
        if isLast { complete(&job) }
        return
      }
      do throws(CSVReader.Problem) {
        guard let record = try reader.record(in: bytes, at: at, isLast: isLast) else {
          if at == 0 { job.fail("InvalidBatch : record \(job.processed + 1) is larger than \(Tuning.bulkWindowBytes) bytes") }
          return
        }
        guard isComplete(record, &job) else { return }
        // An empty line is not a record; a line with `""` is a record with one empty value.
        let isBlank = record.end - at == record.lineEnding?.bytes.count ?? 0
        at = record.end
        if !isBlank || job.columns == nil { try write(record.fields, object, &job) }
        if job.state == .inProgress { job.position = start + at }
        taken += 1
      } catch {
        job.fail("InvalidBatch : record \(job.processed + 1): \(error.message)")
      }
    }
  }

  private func complete(_ job: inout BulkJob) {
    if job.columns == nil { return job.fail("InvalidBatch : the data has no header line") }
    job.state = .jobComplete
  }

  /// - Returns: False if the record's line ending is not the job's.
  private func isComplete(_ record: CSVReader.Record, _ job: inout BulkJob) -> Bool {
    guard let ending = record.lineEnding, ending != job.lineEnding else { return true }
    job.fail(
      "ClientInputError : LineEnding is invalid on user data. Current LineEnding setting is \(job.lineEnding.rawValue)")
    return false
  }

  private func write(_ fields: [String], _ object: ObjectSchema, _ job: inout BulkJob) throws(CSVReader.Problem) {
    guard let columns = job.columns else { return header(fields, object, &job) }
    guard fields.count == columns.count else {
      throw CSVReader.Problem(message: "it has \(fields.count) fields, the header has \(columns.count)")
    }
    job.processed += 1
    let line: CSVLine
    let outcome: BulkStore.Outcome
    do {
      let record = BulkRecord(org: org, job: job, object: object)
      let (id, created) = try org.item(job.processed - 1) { try org.transaction { try record.apply(columns, fields) } }
      line = CSVLine(job.delimiter, [id, created ? "true" : "false"] + fields)
      outcome = .successful
    } catch {
      job.failed += 1
      let (id, text) = BulkRecord.failure(error, columns, fields)
      line = CSVLine(job.delimiter, [id, text] + fields)
      outcome = .failed
    }
    do {
      try store.addLine(line.ended(by: job.lineEnding), outcome, number: job.processed, of: job.id)
    } catch {
      throw CSVReader.Problem(message: "its result cannot be kept: \(error)")
    }
  }

  /// Checks the column names before any record is written.
  private func header(_ columns: [String], _ object: ObjectSchema, _ job: inout BulkJob) {
    var seen: IdSet = []
    for column in columns {
      guard BulkRecord.isKnown(column, object, org.schema) else {
        return job.fail("InvalidBatch : Field name not found : \(column)")
      }
      guard seen.insert(column.lowercased()).inserted else {
        return job.fail("InvalidBatch : Duplicate field name : \(column)")
      }
    }
    let needed = job.operation == .upsert ? job.externalField : job.operation == .insert ? nil : "Id"
    if let needed, !seen.contains(needed.lowercased()) {
      return job.fail("InvalidBatch : the header lacks the column \(needed)")
    }
    job.columns = columns
  }
}

/// One record of an ingest job.
struct BulkRecord {
  let org: Org
  let job: BulkJob
  let object: ObjectSchema

  private var writer: RecordWriter { RecordWriter(org: org, userId: job.userId) }

  /// - Returns: The record's id and whether it was created.
  func apply(_ columns: [String], _ values: [String]) throws -> (id: String, created: Bool) {
    let record = try body(columns, values)
    switch job.operation {
    case .insert: return (try writer.create(object, record), true)
    case .upsert: return try upsert(record)
    case .update:
      let (id, fields) = try CollectionRoutes.identified(record, object)
      try CollectionRoutes.requireLive(id, object, writer.reader)
      try writer.update(object, id: id, fields)
      return (id, false)
    case .delete, .hardDelete:
      let (id, _) = try CollectionRoutes.identified(record, object)
      try CollectionRoutes.requireLive(id, object, writer.reader)
      try writer.delete(object, id: id)
      if job.operation == .hardDelete { try RowNumbers(connection: org.connection).remove(id, of: object) }
      return (id, false)
    case .query, .queryAll: throw SandboxError.unknown("not an ingest operation")
    }
  }

  private func upsert(_ record: JSONObject) throws -> (id: String, created: Bool) {
    let field = try ExternalKey.field(job.externalField ?? "Id", of: object)
    switch try UpsertItem(writer: writer, object: object, field: field).run(record) {
    case .success(let id): return (id, false)
    case .upserted(let id, let created): return (id, created)
    case .failure(let error), .failedUpsert(let error, _): throw error
    }
  }

  /// Converts cells to a record. Empty cells leave a field unchanged, `#N/A` clears it, and a
  /// column such as `Account.External_Id__c` refers to a parent.
  private func body(_ columns: [String], _ values: [String]) throws -> JSONObject {
    var body = JSONObject()
    for (column, value) in zip(columns, values) where !value.isEmpty {
      let json: JSONValue = value == "#N/A" ? .null : .string(value)
      let parts = column.split(separator: ".").map(String.init)
      guard parts.count == 2 else {
        try check(column, json)
        body[column] = json
        continue
      }
      body[parts[0]] = .object([parts[1]: json])
    }
    return body
  }

  /// Checks that a text is valid for the type of its field. In CSV an invalid one fails the record,
  /// not the whole input.
  private func check(_ column: String, _ value: JSONValue) throws {
    guard let field = object.field(column), !field.type.isText, !field.type.isReference else { return }
    do {
      _ = try FieldCoercion(object: object, field: field).value(value)
    } catch {
      guard error.code == "JSON_PARSER_ERROR" else { throw error }
      throw SandboxError(
        status: 400, code: "INVALID_TYPE_ON_FIELD_IN_RECORD",
        message: "\(field.label): value not of required type: \(value.stringValue ?? "")", fields: [field.name])
    }
  }

  static func isKnown(_ column: String, _ object: ObjectSchema, _ schema: OrgSchema) -> Bool {
    let parts = column.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return object.field(column) != nil }
    return object.relationship(parts[0])?.referenceTo.contains { schema.object($0)?.field(parts[1]) != nil } ?? false
  }

  /// Returns the id, if given, and the text `CODE:message:fields --` for the failed results.
  static func failure(_ error: any Error, _ columns: [String], _ values: [String]) -> (id: String, text: String) {
    let failure = error as? SandboxError ?? .unknown("\(error)")
    let fields = (failure.details.first?.fields ?? []).joined(separator: ",")
    let id = zip(columns, values).first { $0.0.lowercased() == "id" }?.1 ?? ""
    return (id, "\(failure.code):\(failure.message):\(fields) --")
  }
}
