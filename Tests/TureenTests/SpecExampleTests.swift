import Foundation
import JSON
import LuaBridge
import MobileSync
import RestClient
import SandboxParse
import SmartStore
import TestSupport
import Testing
import Tureen

/// Runs the examples of bridge-spec: the JSON call, whose result must have the described shape, and the Lua code.
@Suite struct SpecExampleTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("bridge-spec")

  static let actions: [String] = {
    let actions = folder.appendingPathComponent("actions")
    let services = (try? FileManager.default.contentsOfDirectory(atPath: actions.path)) ?? []
    return services.sorted().flatMap { service in
      let files = (try? FileManager.default.contentsOfDirectory(atPath: actions.appendingPathComponent(service).path)) ?? []
      return files.sorted().map { "\(service)/\($0)" }
    }
  }()

  private static func json(_ path: String) throws -> JSONValue {
    try JSONValue(parsing: Array(Data(contentsOf: folder.appendingPathComponent(path))))
  }

  /// types.json lists exactly the known keys.
  @Test(arguments: [("querySpec", QuerySpec.keys), ("soupIndexSpec", IndexSpec.keys), ("syncOptions", SyncOptions.keys)])
  func types_keys_areThoseThatAreKnown(type: String, keys: KnownKeys) throws {
    #expect(try Self.json("types.json")[type]?["fields"]?.objectValue?.keys.sorted() == keys.names.sorted())
  }

  /// The set-up for the examples: a soup with entries, two syncs so that the example's is the third, a key-value store.
  private static let world = """
    local await = tureen.await
    local function world()
      assert(await(smartstore.registerSoup, "contacts", SPECS))
      local entries = {}
      for i = 1, 5 do entries[i] = { Id = "003" .. ("ABCDE"):sub(i, i), LastName = i < 4 and "Ito" or "Ray" } end
      assert(await(smartstore.upsertSoupEntriesWithExternalId, "contacts", entries, "Id"))
      assert(await(smartstore.registerSoup, true, "contacts", SPECS))
      assert(await(smartstore.registerSoup, { isGlobalStore = true, storeName = "notes" }, "notes", SPECS))
      assert(await(tureen.keyvalue.put, "settings", "theme", "dark"))
      assert(await(tureen.oauth.authenticate))
    end
    """
  private static let syncs = """
    local function syncs()
      for i = 1, 2 do assert(await(mobilesync.createSyncDown, CONTACTS, "contacts", OVERWRITE, "other" .. i)) end
      assert(await(mobilesync.syncDown, CONTACTS, "contacts", OVERWRITE, "contactsDown"))
    end
    """
  /// A Parse server with a genre and a user, for the examples of `tureen.parse`.
  private static let library = """
    local parse = tureen.parse
    local Genre, genre = parse.class("Genre", { soup = "genres", connection = "library" }), nil
    local function library(action)
      parse.use "library"
      assert(await(smartstore.registerSoup, "genres", { { path = "objectId", type = "string" } }))
      genre = assert(Genre { name = "Fantasy" }:save())
      if action ~= "signUp" then assert(parse.signUp { username = "ada", password = "a long one" }) end
    end
    local function with_id(text) return (text:gsub("Wq8vK2bN0x", genre and genre.objectId or "Wq8vK2bN0x")) end
    """

  private func connection(_ server: ParseServer) throws -> ConnectionSettings {
    try ConnectionSettings(
      name: "library",
      json: [
        "kind": "parse", "serverURL": .string(server.url + "/parse"),
        "applicationId": .string(server.keys.applicationId), "restAPIKey": .string(server.keys.restAPIKey),
      ], from: ConnectionSettings.Origin(folder: "/", allowsPlainSecrets: true))
  }

  /// Additional set-up for examples, by action.
  private static let before: [String: String] = [
    "pgMoveCursorToPageIndex": #"assert(await(smartstore.querySoup, "contacts", smartstore.buildAllQuerySpec("Id", nil, 2)))"#,
    "pgCloseCursor": #"assert(await(smartstore.querySoup, "contacts", smartstore.buildAllQuerySpec("Id", nil, 2)))"#,
    "getUsage": #"assert(await(tureen.network.sendRequest, "/services/data", "/v66.0/limits"))"#,
    "restart": "assert(await(mobilesync.stop))",
    "resolveConflict": """
    local entry = await(smartstore.retrieveSoupEntries, "contacts", { 7 })[1]
    entry.LastName, entry.__local__, entry.__locally_updated__ = "Here", true, true
    assert(await(smartstore.upsertSoupEntries, "contacts", { entry }))
    require("tureen.force").update("Contact", { Id = entry.Id, LastName = "There" })
    assert(await(mobilesync.syncDown, CONTACTS, "contacts", { mergeMode = "MERGE" }))
    """,
  ]
  /// An open sign-in for the examples that end one. To finish it, the person is already at the browser.
  private static let signIns: [String: String] = [
    "finishLogin": """
    login = assert(await(accounts.startLogin, options { listen = true, redirectUri = URI }))
    tureen.exec(nil, nil, "person", "signInAndFollow", { url = login.url })
    """,
    "cancelLogin": "login = assert(await(accounts.startLogin, options()))",
  ]
  /// A sync up with an edit to send, and its plan, for the examples about plans.
  private static let plans = """
    assert(await(mobilesync.createSyncUp, {}, "contacts", { fieldlist = { "LastName" }, mergeMode = "OVERWRITE" }, "contactsUp"))
    plan = assert(await(mobilesync.planSync, "contactsUp"))
    """
  /// The actions whose examples create the sync that the other examples use.
  private static let makesTheSync: Set<String> = ["syncDown", "createSyncDown", "ensureSync"]

  @Test(arguments: actions)
  func example_ofAnAction_runsAndAnswersAsDescribed(path: String) async throws {
    let spec = try Self.json("actions/\(path)")
    let action = try #require(spec["action"]?.stringValue), service = try #require(spec["service"]?.stringValue)
    let example = try #require(spec["example"]), lua = try #require(example["lua"]?.stringValue)
    var arguments = example["arguments"] ?? [:]
    if action == "switchToUser" { arguments = .string("the user's own") }
    var setUp = Self.makesTheSync.contains(action) || !service.hasSuffix(".mobilesync") ? "" : "syncs()"
    if service == "tureen.parse" { setUp = "library('\(action)')" }
    setUp += Self.signIns[action] ?? ""
    if ["planSync", "applyPlan"].contains(action) { setUp += " " + Self.plans }
    let port = HeldPort()
    let runner = try await ScriptRunner(contacts: 3) { $0.redirectURIs.append(ScriptPerson.redirect(port)) }
    let person = ScriptPerson(server: runner.server, port: port)
    // Two servers, so that the second run starts from the same state as the first.
    let parse = [try await Self.parseServer(), try await Self.parseServer()]
    let connections = try parse.map(connection)
    let outcome = try await runner.run(
      """
      \(Self.world)
      \(Self.syncs)
      \(Self.library)
      \(person.lua)
      tureen.async(function()
        world() \(setUp)
        \(lua)
      end)
      assert(tureen.run())
      """,
      on: runner.makeHost {
        $0.home = runner.home + "-lua"
        $0.connections = [connections[0]]
        $0.services["person"] = person.service
      })
    #expect(outcome == .done)
    let result = try await runner.value(
      of: """
        world() \(setUp) \(Self.before[action] ?? "")
        local given = tureen.json.decode(with_id [====[\(Self.text(arguments))]====])
        if type(given) == "table" and given.plan then given.plan = plan end
        if type(given) == "string" then given = await(tureen.sfaccountmanager.getCurrentUser) end
        local answer, err = await(function(success, failure)
          tureen.exec(success, failure, "\(service)", "\(action)", given)
          \(action == "pgObserve" ? #"smartstore.upsertSoupEntries("contacts", { { Id = "new" } })"# : "")
        end)
        if answer == nil then error(("%s: %s"):format(err.code, err.message), 0) end
        \(action == "pgObserve" ? #"tureen.exec(nil, nil, "\#(service)", "pgCloseObserver", { observerId = 1 })"# : "")
        return answer
        """, before: [Self.world, Self.syncs, Self.library, person.lua].joined(separator: "\n"),
      on: runner.makeHost {
        $0.connections = [connections[1]]
        $0.services["person"] = person.service
      })
    for server in parse { await server.stop() }
    let answer = try #require(result, "the call has no answer")
    try expectLooks(answer, as: try #require(spec["result"]), path)
    try expectLooks(try #require(example["result"]), as: try #require(spec["result"]), "\(path), the example's result")
    #expect(
      kind(answer) == kind(try #require(example["result"])),
      "the example says \(Self.text(example["result"] ?? .null)), the answer is \(Self.text(answer))")
  }

  private static func parseServer() async throws -> ParseServer {
    var setup = ParseConfiguration()
    setup.isSeeded = false
    return try await ParseServer.start(setup)
  }

  /// A default in the reference is spelled as the value itself.
  @Test func reference_defaults_areSpelledAsTheyAre() throws {
    let reference = try String(contentsOf: Self.folder.appendingPathComponent("reference.md"), encoding: .utf8)
    var checked = 0
    for path in Self.actions {
      for (name, argument) in try Self.json("actions/\(path)")["arguments"]?.objectValue ?? [:] {
        guard let text = argument["default"]?.stringValue, !text.isEmpty else { continue }
        #expect(reference.contains("default `\(text)`"), "\(path): \(name)")
        checked += 1
      }
    }
    #expect(checked > 20 && reference.contains(#"default `{"mergeMode": "OVERWRITE"}`"#))
  }

  @Test func actions_areFound() { #expect(Self.actions.count > 50) }

  private static func text(_ value: JSONValue) -> String { String(decoding: value.serialized(), as: UTF8.self) }

  private func kind(_ value: JSONValue) -> String { value.integerValue == nil ? value.kindName : "integer" }

  /// Expects a value to match `shape`: its type, the required members and their types, the elements.
  private func expectLooks(_ value: JSONValue, as shape: JSONValue, _ what: String) throws {
    let type = try #require(shape["type"]?.stringValue)
    if value.isNull, shape["nullable"]?.boolValue == true { return }
    switch type {
    case "any": return
    case "string": #expect(value.stringValue != nil, "\(what) is \(Self.text(value))")
    case "integer": #expect(value.integerValue != nil, "\(what) is \(Self.text(value))")
    case "number": #expect(value.integerValue != nil || value.kindName == "number", "\(what) is \(Self.text(value))")
    case "boolean": #expect(value.boolValue != nil, "\(what) is \(Self.text(value))")
    case "object":
      #expect(value.objectValue != nil, "\(what) is \(Self.text(value))")
      try expectMembers(value, shape["fields"]?.objectValue ?? [:], what, allRequired: false)
    case "array":
      let elements = try #require(shape["elements"])
      let element: JSONValue = elements.stringValue.map { ["type": .string($0)] } ?? elements
      for (i, each) in try #require(value.arrayValue, "\(what) is \(Self.text(value))").enumerated() {
        try expectLooks(each, as: element, "\(what)[\(i + 1)]")
      }
    default:
      let shared = try #require(try Self.json("types.json")[type])
      if let event = shared["event"]?.stringValue {
        let detail = try #require(try Self.json("events/\(event).json")["detail"]?.objectValue)
        try expectMembers(value, detail, what, allRequired: false)
      } else {
        try expectMembers(value, try #require(shared["fields"]?.objectValue), what, allRequired: true)
      }
    }
  }

  private func expectMembers(_ value: JSONValue, _ fields: JSONObject, _ what: String, allRequired: Bool) throws {
    let members = try #require(value.objectValue, "\(what) is \(Self.text(value))")
    for (name, field) in fields {
      if let member = members[name], !member.isNull {
        try expectLooks(member, as: field, "\(what).\(name)")
      } else {
        #expect(!allRequired || field["required"]?.boolValue != true, "\(what) has no \(name)")
      }
    }
    if !fields.isEmpty {
      for key in members.keys { #expect(fields[key] != nil, "\(what) has \(key), which its type does not know") }
    }
  }
}
