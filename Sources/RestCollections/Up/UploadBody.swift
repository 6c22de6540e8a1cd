import JSON
import MobileSync
import RestClient

/// The body of an upload.
struct UploadBody: Sendable {
  /// nil if there is no body.
  var bytes: [UInt8]?
  /// Top-level members of the entry that are sent unchanged.
  var sent: JSONObject = [:]
  /// False for an update in which no sent member has changed.
  var hasChanges = true
}

/// Makes the bodies of uploads.
struct BodyWriter: Sendable {
  let exchange: RecordExchange
  let operation: UploadOperation
  let row: UploadRow
  /// Members that other clients have added to the record since it was received.
  var added: JSONObject = [:]
  private var target: RestTarget { exchange.target }

  /// Makes the body.
  ///
  /// - Parameter tag: The tag of the request's condition.
  /// - Throws: ``RecordExchange/MissingValue``, ``SyncError`` of a function.
  func body(tag: String? = nil) async throws -> UploadBody {
    guard let content = operation.content else { return UploadBody() }
    var made: JSONObject = [:], result = UploadBody()
    switch content {
    case .body(let template):
      made = try exchange.filled { () throws(URITemplate.Problem) in try template.expanded(row.values) }
    case .everything:
      made = whole(tag: tag, without: try await computed())
      result.sent = row.record.filtered { made[$0.key] != nil }
    case .fields(let fields):
      let only = operation.sendsChangedOnly ? row.base : nil
      for field in fields {
        guard let value = try await value(field, changedSince: only) else { continue }
        made.set(value, at: field.wire)
        if case .path(let path) = field.source, let name = path.firstMember { result.sent[name] = row.record[name] }
      }
      if let path = operation.unlistedUnique, let value = path.value(in: .object(row.record)) {
        made.set(value, at: path.memberNames ?? [])
        if let name = path.firstMember { result.sent[name] = row.record[name] }
      }
      result.hasChanges = !made.isEmpty || only == nil
    }
    if let constants = operation.constants {
      made = made.merged(
        with: try exchange.filled { () throws(URITemplate.Problem) in try constants.expanded(row.values) })
    }
    if let wrap = operation.wrap { made = [wrap: .object(made)] }
    result.bytes = operation.isForm ? BodyWriter.form(made) : JSONValue.object(made).serialized()
    return result
  }

  /// - Returns: nil if the field is not sent.
  private func value(_ field: UploadOperation.Field, changedSince base: JSONObject?) async throws -> JSONValue? {
    switch field.source {
    case .function(let name): return try await exchange.call(name, row.record)
    case .path(let path):
      let value = path.value(in: .object(row.record))
      if let base, path.value(in: .object(base)) == value { return nil }
      if let value { return value }
      return operation.nullOnMissing ? JSONValue.null : Optional.none
    }
  }

  /// Returns the members that the target's function computes: those that it restores in an item
  /// without them.
  private func computed() async throws -> IdSet {
    guard let name = target.transform, let base = row.base else { return [] }
    let item = base.filtered { !LocalField.isLocalOnly($0.key) }
    let keys = item.keys.filter { $0 != target.items.idField.firstMember }
    let without = keys.map { key in JSONValue.object(item.filtered { $0.key != key }) }
    let answer: JSONObject
    do {
      answer = try await exchange.context.call(implementation: name, .transform, ["records": .array(without)])
    } catch  where error.isPlanned {
      return []
    }
    let made = answer["records"]?.arrayValue ?? []
    return IdSet(zip(keys, made).compactMap { key, value in value["record"]?[key] == item[key] ? key : nil })
  }

  /// Returns the last received item with the entry's changes, without the id and the members added
  /// by the engine, the mapping or the function.
  private func whole(tag: String?, without computed: IdSet) -> JSONObject {
    var item = (row.base ?? [:]).replacing(with: row.record).filtered {
      !LocalField.isLocalOnly($0.key) && !computed.contains($0.key)
    }
    for mapping in target.items.map {
      let value = item[mapping.name]
      item[mapping.name] = nil
      if let renamed = mapping.renamed, let value { item[renamed] = value }
    }
    for (key, value) in added where item[key] == nil { item[key] = value }
    if let name = target.items.idField.singleKey { item[name] = nil }
    if let tag, let keys = exchange.up.tag.path.memberNames, !keys.isEmpty { item.set(.string(tag), at: keys) }
    return item
  }

  /// Encodes nested members as `a[b]=c`.
  private static func form(_ object: JSONObject) -> [UInt8] {
    var pairs: [(name: String, value: String)] = []
    func add(_ name: String, _ value: JSONValue) {
      switch value {
      case .object(let members): for (key, member) in members { add(name.isEmpty ? key : "\(name)[\(key)]", member) }
      case .array(let list): for (i, element) in list.enumerated() { add("\(name)[\(i)]", element) }
      // In a form, an empty value removes a value.
      case .null: pairs.append((name, ""))
      case .string(let text): pairs.append((name, text))
      default: pairs.append((name, value.text))
      }
    }
    add("", .object(object))
    return Array(PercentEncoding.form(pairs).utf8)
  }
}

extension RecordExchange {
  /// Calls a script's function with a record.
  ///
  /// - Throws: ``MissingValue`` if the function fails for this record.
  func call(_ name: String, _ record: JSONObject) async throws -> JSONValue? {
    let answer: JSONObject
    do {
      answer = try await context.call(implementation: name, .transform, ["records": [.object(record)]])
    } catch  where error.isPlanned {
      return .string("«computed by \(name)»")
    }
    guard let made = answer["records"]?.arrayValue?.first else {
      throw SyncError(.customTarget, "'\(name)' must return a value")
    }
    if let problem = made["error"]?.stringValue { throw MissingValue(message: "\(name) failed: \(problem)") }
    return made["record"].flatMap { $0.isNull ? Optional.none : $0 }
  }

  /// Returns a record with the members that the target's function computes, as in a sync down.
  func computed(_ members: JSONObject) async throws -> JSONObject {
    guard let name = target.transform else { return members }
    return try await call(name, members)?.objectValue ?? members
  }
}
