import JSON
import RestClient
import SmartStore

/// Reads what the module of a custom target would send, for a comparison: its ids with `remoteIds`, and the records of the soup
/// with `fetchFromServer` if the module has it and the soup lacks none, else all of them as a run does.
struct CustomInventory: Sendable {
  let fields: TargetFields
  let caller: CustomTargetCaller
  let context: FetchContext

  /// Records of one call of `fetchFromServer`.
  private static let fetchedAtOnce = 200

  /// Returns whether the module can be asked for the records of the soup.
  func canFetch() async throws -> Bool {
    // A program that hosts the engine need not know this function.
    let answer = try? await caller.object(.functions, [:], context.control, context.configuration)
    try context.control.check()
    return (answer?["functions"]?.arrayValue ?? []).contains {
      $0.stringValue == CustomTargetCall.Function.fetchFromServer.rawValue
    }
  }

  /// Returns a page of records that have nothing but their ids.
  func page(ofIds ids: IdSet) throws -> SyncDownPage {
    try page(ids.sorted().map { Projection.member(.string($0), at: fields.id, in: [:]) }.map { [$0.key: $0.value] })
  }

  /// Returns the pages of records that are all in the soup; nil if it lacks one, of which the module can only be asked as a
  /// run does.
  func page(of ids: IdSet) async throws -> SyncDownPage? {
    let sorted = ids.sorted(), stored = try await context.records(sorted)
    guard sorted.allSatisfy({ stored[$0] != nil }) else { return nil }
    return try await page(of: sorted[...])
  }

  private func page(of ids: ArraySlice<String>) async throws -> SyncDownPage {
    let asked = Array(ids.prefix(Self.fetchedAtOnce)), rest = ids.dropFirst(Self.fetchedAtOnce)
    var page = try page(asked.isEmpty ? [] : try await records(asked))
    if !rest.isEmpty { page.next = { try await self.page(of: rest) } }
    return page
  }

  private func records(_ ids: [String]) async throws -> [JSONObject] {
    let entries = try await context.receivedRecords(ids), asked = ids.compactMap { entries[$0] }
    let names = IdSet(asked.flatMap(\.keys)).filter { $0 != LocalField.attributes }.sorted()
    let answer = try await caller.object(
      .fetchFromServer,
      ["records": .array(asked.map { .object($0) }), "fields": .array(names.map { .string($0) })], context.control,
      context.configuration)
    guard let records = answer["records"]?.arrayValue, records.count == asked.count else {
      throw caller.failure(.fetchFromServer, "must return one record for each of \(asked.count) records")
    }
    return try zip(asked, records).compactMap { entry, record in
      if record == false { return nil }
      guard var found = record.objectValue else {
        throw caller.failure(.fetchFromServer, "does not know every record, so they cannot be compared")
      }
      // The module may leave out the id, which it was given.
      if let id = fields.id(of: entry), fields.id(of: found) == nil {
        let (key, value) = Projection.member(.string(id), at: fields.id, in: found)
        found[key] = value
      }
      return found
    }
  }

  private func page(_ records: [JSONObject]) throws -> SyncDownPage {
    let text = JSONValue.array(records.map { .object($0) }).serialized()
    return SyncDownPage(parts: [try context.plan.scan(ByteArrayPage(text), recordsKey: nil)], totalSize: -1)
  }
}

extension CustomSyncDownTarget {
  /// A module may send some members of a record in one function and more in another.
  var sendsWholeRecords: Bool { false }

  func inventory(of ids: [String]?, _ level: VerifyLevel, in context: FetchContext) async throws -> SyncDownPage? {
    guard ids == nil else { return nil }
    let inventory = CustomInventory(fields: fields, caller: caller, context: context)
    if level == .content, try await !inventory.canFetch() { return try await start(since: TimeStamp.never, in: context) }
    let known = try await context.cleanIds(), remote = try await remoteIds(among: [known], in: context)[0]
    guard level == .content else { return try inventory.page(ofIds: remote) }
    if let page = try await inventory.page(of: remote) { return page }
    return try await start(since: TimeStamp.never, in: context)
  }
}
