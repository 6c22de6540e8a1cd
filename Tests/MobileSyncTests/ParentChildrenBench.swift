import JSON
import SandboxOrg
import SmartStore

@testable import MobileSync

/// Accounts with contacts on a sandbox org and in two soups.
struct ParentChildrenBench {
  let bench: SyncBench

  init(pageSize: Int = 2000, realTime: Bool = false) async throws {
    bench = try await SyncBench(pageSize: pageSize, realTime: realTime)
    try bench.store.registerSoup(
      "contacts",
      indexSpecs: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "LastName", type: .string),
        IndexSpec(path: "AccountId", type: .string), IndexSpec(path: "__local__", type: .string),
        IndexSpec(path: "__sync_id__", type: .integer),
      ])
  }

  func close() async { await bench.close() }

  // MARK: Syncs

  static func sides(_ relationship: String) -> JSONObject {
    [
      "type": "parent_children", "relationshipType": .string(relationship),
      "parent": ["sobjectType": "Account", "soupName": "accounts"],
      "children": [
        "sobjectType": "Contact", "sobjectTypePlural": "Contacts", "soupName": "contacts", "parentIdFieldName": "AccountId",
      ],
    ]
  }

  static func upTarget(_ relationship: String, _ more: JSONObject = [:]) -> JSONObject {
    var target = sides(relationship)
    target["createFieldlist"] = ["Name", "Description"]
    target["updateFieldlist"] = ["Name", "Description"]
    target["childrenCreateFieldlist"] = ["LastName", "Department", "AccountId"]
    target["childrenUpdateFieldlist"] = ["LastName", "Department", "AccountId"]
    for (key, value) in more { target[key] = value }
    return target
  }

  func up(
    _ mergeMode: MergeMode = .overwrite, _ relationship: String = "MASTER_DETAIL", _ more: JSONObject = [:]
  ) async throws -> SyncState {
    try await bench.manager.syncUp(
      target: Self.upTarget(relationship, more), options: SyncOptions(mergeMode: mergeMode).json, soupName: "accounts")
  }

  func down() async throws {
    var target = Self.sides("MASTER_DETAIL")
    target["parentFieldlist"] = ["Id", "Name", "Description", "LastModifiedDate"]
    target["childrenFieldlist"] = ["Id", "LastName", "Department", "AccountId", "LastModifiedDate"]
    target["parentSoqlFilter"] = ""
    let end = try await bench.manager.syncDown(target: target, soupName: "accounts")
    if end.status != .done { throw BenchError.noSuchEntry(end.error) }
    bench.org.clearRequests()
  }

  // MARK: The server

  /// Adds an account with contacts that are named after it.
  @discardableResult
  func addFamily(_ name: String, children: Int) throws -> (id: String, children: [String]) {
    let id = try bench.addAccount(name)
    let children = try (0..<children).map { n in
      try bench.org.create("Contact", fields: ["LastName": .string("\(name).\(n)"), "AccountId": .string(id)])
    }
    return (id, children)
  }

  func change(_ type: String, _ id: String, _ fields: JSONObject) throws {
    bench.clock.advance(by: 60)
    try bench.org.update(type, id: id, fields: fields)
  }

  func onServer(_ type: String, _ id: String, _ fields: String) throws -> JSONValue? {
    try bench.org.query("SELECT \(fields) FROM \(type) WHERE Id = '\(id)'")["records"]?.arrayValue?.first
  }

  /// Returns `account: contact contact`, one line for each account, ordered by name.
  func serverFamilies() throws -> [String] {
    let accounts = try bench.org.query("SELECT Id, Name FROM Account ORDER BY Name")["records"]?.arrayValue ?? []
    return try accounts.map { account in
      let id = account["Id"]?.stringValue ?? ""
      let rows = try bench.org.query("SELECT LastName FROM Contact WHERE AccountId = '\(id)' ORDER BY LastName")["records"]
      let names = rows?.arrayValue?.compactMap { $0["LastName"]?.stringValue } ?? []
      return (account["Name"]?.stringValue ?? "") + ": " + names.joined(separator: " ")
    }
  }

  // MARK: The store

  func entries(_ soup: String) throws -> [JSONObject] {
    let text = try bench.store.readBlocking { snapshot in
      let ids =
        try snapshot.entryIds(in: soup, where: "__local__", equals: .text("true"))
        + snapshot.entryIds(in: soup, where: "__local__", equals: .text("false"))
      return try snapshot.entries(ids.sorted(), in: soup).text
    }
    return try JSONValue(parsing: text).arrayValue?.compactMap(\.objectValue) ?? []
  }

  /// Returns the stored families in the format of ``serverFamilies()``.
  func storedFamilies() throws -> [String] {
    let contacts = try entries("contacts")
    return try entries("accounts").sorted { $0["Name"]?.stringValue ?? "" < $1["Name"]?.stringValue ?? "" }.map { account in
      let mine = contacts.filter { $0["AccountId"] == account["Id"] }.compactMap { $0["LastName"]?.stringValue }
      return (account["Name"]?.stringValue ?? "") + ": " + mine.sorted().joined(separator: " ")
    }
  }

  func save(_ entry: JSONObject, _ soup: String) throws {
    _ = try bench.store.upsert(JSONValue.array([.object(entry)]).serialized(), into: soup)
  }

  func edit(_ soup: String, _ name: String, _ changes: JSONObject) throws {
    let found = try entries(soup).first { $0["Name"] == .string(name) || $0["LastName"] == .string(name) }
    guard var entry = found else { throw BenchError.noSuchEntry(name) }
    entry["__local__"] = true
    for (key, value) in changes { entry[key] = value }
    try save(entry, soup)
  }

  func createAccount(_ name: String, id: String, _ more: JSONObject = [:]) throws {
    try create(["Id": .string(id), "attributes": ["type": "Account"], "Name": .string(name)], more, "accounts")
  }

  func createContact(_ name: String, id: String, of parent: String, _ more: JSONObject = [:]) throws {
    try create(
      ["Id": .string(id), "attributes": ["type": "Contact"], "LastName": .string(name), "AccountId": .string(parent)], more,
      "contacts")
  }

  private func create(_ entry: JSONObject, _ more: JSONObject, _ soup: String) throws {
    var entry = entry
    entry["__local__"] = true
    entry["__locally_created__"] = true
    for (key, value) in more { entry[key] = value }
    try save(entry, soup)
  }

  func dirtyCount() throws -> Int {
    try bench.store.readBlocking { try $0.dirtyEntryIds(in: "accounts").count + $0.dirtyEntryIds(in: "contacts").count }
  }
}
