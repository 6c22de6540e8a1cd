import JSON
import LuaBridge
import MobileSync
import RestClient
import SmartStore
import TestSupport
import Tureen

/// A server, and a host with its store and a Lua state. Walks use it one after the other.
final class AwkwardWorld: @unchecked Sendable {  // the Lua state is used by one thread at a time
  static let soup = "things"

  let service: any AwkwardService
  let store: Store
  let manager: SyncManager
  private let host: Host
  private let lua: ScriptState
  private let folder: TemporaryFolder

  struct ScriptFailure: Error, CustomStringConvertible { let description: String }
  private struct NoOrg: Error {}

  init(_ service: any AwkwardService) async throws {
    self.service = service
    folder = try TemporaryFolder(isInMemory: true)
    var settings = HostSettings()
    settings.home = folder.path + "/home"
    settings.org = "sandbox"
    settings.connections = service.connections
    settings.embeddedSandbox = { _ in
      guard let access = (service as? AwkwardOrg)?.server.credentials() else { throw NoOrg() }
      return .password(
        loginURL: access.loginURL, clientId: access.clientId, clientSecret: access.clientSecret, username: access.username,
        password: access.password)
    }
    let host = Host(settings: settings)
    self.host = host
    store = try await host.store()
    manager = try await host.syncManager()
    lua = try await AwkwardWorld.onThread { try ScriptState(host: host) }
  }

  func close() async {
    _ = try? await Self.onThread { self.lua.close() }
    await service.stop()
  }

  private static func onThread<R>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      nonisolated(unsafe) let continuation = continuation
      Thread.start { continuation.resume(with: Result { try body() }) }
    }
  }

  /// Empties both sides and creates the syncs.
  func begin(_ source: inout AwkwardSource, mode: String, downMode: String) async throws {
    try await service.begin(&source)
    for name in ["down", "up"] { try? manager.deleteSync(.name(name)) }
    try store.removeSoup(Self.soup)
    try store.registerSoup(
      Self.soup,
      indexSpecs: [
        IndexSpec(path: service.idField, type: .string), IndexSpec(path: "__local__", type: .string),
        IndexSpec(path: "__sync_id__", type: .integer),
      ])
    try manager.createSyncDown(
      target: service.downTarget, options: ["mergeMode": .string(downMode)], soupName: Self.soup, syncName: "down")
    try manager.createSyncUp(
      target: service.upTarget, options: ["mergeMode": .string(mode)], soupName: Self.soup, syncName: "up")
  }

  /// Runs a function body as a task.
  func run(_ body: String) async throws {
    let text = """
      local tureen = require "tureen"
      local smartstore, mobilesync, await = tureen.smartstore, tureen.mobilesync, tureen.await
      local SOUP, decode = "\(Self.soup)", tureen.json.decode
      local function entry(id) return assert(await(smartstore.retrieveSoupEntries, SOUP, { id }))[1] end
      tureen.async(function() \(body) end)
      assert(tureen.run())
      """
    let outcome = try await Self.onThread { self.lua.run(text: text) }
    guard outcome == .done else { throw ScriptFailure(description: "\(outcome) of \(body)") }
  }

  /// Returns Lua code for a value.
  static func literal(_ value: PlainJSON) -> String {
    "decode \"" + value.wire(.few).utf8.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "\""
  }

  // MARK: The soup

  func entries() throws -> [PlainJSON] {
    let rows = try PlainJSON(parsing: store.rows("SELECT {\(Self.soup):_soup} FROM {\(Self.soup)}", pageSize: 100_000))
    return rows.elements.compactMap { $0.elements.first }.sorted { $0.entryId < $1.entryId }
  }

  func save(_ entry: PlainJSON, _ escapes: PlainJSON.Escapes) throws {
    try store.upsert("[\(entry.wire(escapes))]", into: Self.soup)
  }

  func patch(_ patch: EntryPatch) throws { _ = try store.patch([patch], in: Self.soup) }

  // MARK: Files

  var files: SoupFiles {
    SoupFiles(
      store: store, soup: Self.soup, externalIdPath: service.idField,
      recordType: service.newMembers["attributes"]?["type"]?.stringValue)
  }
}

extension PlainJSON {
  var entryId: Int64 { Int64(self["_soupEntryId"]?.plain ?? "") ?? 0 }
  var isDirty: Bool { self["__local__"]?.isTrue ?? false }
  var isLocallyCreated: Bool { self["__locally_created__"]?.isTrue ?? false }
  var isLocallyDeleted: Bool { self["__locally_deleted__"]?.isTrue ?? false }

  /// The entry with its marks.
  func marked(_ flag: String) -> PlainJSON {
    var entry = self
    for name in ["__locally_created__", "__locally_updated__", "__locally_deleted__"] {
      entry[name] = .literal(name == flag || self[name]?.isTrue ?? false ? "true" : "false")
    }
    entry["__local__"] = .literal("true")
    return entry
  }
}

extension AwkwardWorld {
  func cleanGhosts() async throws -> Int {
    try await withCheckedThrowingContinuation { continuation in
      do {
        try manager.cleanResyncGhosts(.name("down"), force: true) { continuation.resume(with: $0) }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }
}
