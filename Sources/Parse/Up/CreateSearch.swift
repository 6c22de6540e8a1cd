import JSON
import MobileSync
import RestClient

/// Checks whether the server has an object with the same unique values.
struct UniqueCheck: Sendable {
  let target: ParseSyncUpTarget
  let exchange: ParseExchange

  enum Found: Sendable, Equatable {
    case free
    /// The id of the object; nil if another record of this run has the same values.
    case taken(String?)
  }

  /// - Throws: `RestError` if the server does not answer the question, which does not mean "free".
  func look(_ row: RowUpload) async throws -> Found {
    guard target.rules.onDuplicate != .create else { return .free }
    for group in target.rules.uniqueBy {
      guard let values = values(group, row.resolved) else { continue }
      if let id = try await first(values) { return .taken(id) }
      guard target.memory.claim(JSONValue.object(values).text) else { return .taken(nil) }
    }
    return .free
  }

  /// Returns the id of an object that has the record's values of any group.
  func find(_ record: JSONObject) async throws -> String? {
    for group in target.rules.uniqueBy {
      if let values = values(group, record), let id = try await first(values) { return id }
    }
    return nil
  }

  /// Returns nil if a value is missing, because nothing can be equal then.
  private func values(_ group: [String], _ record: JSONObject) -> JSONObject? {
    var values = JSONObject()
    for field in group {
      guard let value = record[field], !value.isNull else { return nil }
      values[field] = value
    }
    return values
  }

  func first(_ values: JSONObject) async throws -> String? {
    let className = target.target.className
    let query = try ParseTarget.checked("uniqueBy") { () throws(ParseProblem) in
      try ParseQuery(className, .all(values.map { .equal($0.key, $0.value) })).firstId
    }
    let recorder = exchange.intent.recorder, before = recorder?.begin(.search, records: 1)
    defer { if let before { recorder?.resume(before) } }
    do {
      return try await exchange.objects(query).first?["objectId"]?.stringValue
    } catch  where error.isPlanned {
      recorder?.note(unknown: "whether the server has objects with the same unique values")
      return nil
    }
  }
}

/// Finds the object of a create whose response is lost or inconclusive.
struct CreateSearch: Sendable {
  let target: ParseSyncUpTarget
  let exchange: ParseExchange

  func find(_ row: RowUpload) async throws -> BatchSender.Finding {
    let check = UniqueCheck(target: target, exchange: exchange), id: String?
    if let field = row.key?["field"]?.stringValue, let value = row.key?["value"] {
      id = try await check.first([field: value])
    } else if !target.rules.uniqueBy.isEmpty {
      id = try await check.find(row.resolved)
    } else {
      // An object with the same values may belong to another client, so it only shows that this one
      // may exist.
      guard let values = Self.comparable(row.request?.body ?? [:]) else { return .unclear }
      return try await check.first(values) == nil ? .notMade : .unclear
    }
    guard let id else { return .notMade }
    let found = try await exchange.objects([id], in: target.target.className, keys: ["updatedAt"], chunk: 1)[id]
    return found.map { .made($0.filtered { key, _ in ParseNames.serverFields.contains(key) }) } ?? .notMade
  }

  /// Returns the values that a query can match by equality: texts, numbers, booleans, pointers and
  /// dates; nil if there are none.
  private static func comparable(_ body: JSONObject) -> JSONObject? {
    let values = body.filtered { key, value in
      guard !ParseNames.serverFields.contains(key), key != "ACL" else { return false }
      switch value {
      case .null, .array: return false
      case .object(let members): return members["__type"] == "Pointer" || members["__type"] == "Date"
      default: return true
      }
    }
    return values.isEmpty ? nil : values
  }
}

extension ParseSyncUpTarget {
  func createKeys(
    _ indices: [Int], of batch: DirtyBatch, known: [Int64: JSONObject], in context: UploadContext
  ) async throws -> [Int64: JSONObject] {
    var keys: [Int64: JSONObject] = [:]
    for i in indices {
      let id = batch.entryIds[i]
      guard let field = rules.clientKeyField else {
        keys[id] = ["unique": true]
        continue
      }
      let own = batch.entry(i)[field]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
      let value = known[id]?["value"]?.stringValue ?? own ?? UUIDText.make()
      keys[id] = ["field": .string(field), "value": .string(value)]
    }
    return keys
  }

  func find(_ lost: LostKeyedCreate, in context: UploadContext) async throws -> LostKeyedCreate.Finding {
    let check = UniqueCheck(target: self, exchange: try exchange(context))
    if let field = lost.key["field"]?.stringValue, let value = lost.key["value"] {
      guard let id = try await check.first([field: value]) else { return .sendAgain(isSafe: false) }
      return .found(id: id, isCertain: true, record: try await record(id, in: context))
    }
    guard !rules.uniqueBy.isEmpty else { return .inDoubt }
    var record = lost.entry
    for (key, value) in lost.sent { record[key] = value }
    guard let id = try await check.find(record) else { return .sendAgain(isSafe: false) }
    return .found(id: id, isCertain: false, record: try await self.record(id, in: context))
  }

  /// Returns the object, as far as this user sees it.
  private func record(_ id: String, in context: UploadContext) async throws -> JSONObject {
    ParseSyncUpTarget.stored(
      try await exchange(context).objects([id], in: target.className, keys: nil, chunk: 1)[id] ?? [:])
  }
}

enum UUIDText {
  /// Returns a random UUID (RFC 9562, version 4).
  static func make() -> String {
    var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
    bytes[6] = bytes[6] & 0x0f | 0x40
    bytes[8] = bytes[8] & 0x3f | 0x80
    let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }.joined(separator: "-")
  }
}
