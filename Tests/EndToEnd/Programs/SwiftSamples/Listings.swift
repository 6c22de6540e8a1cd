import JSON
import LuaBridge
import Parse
import Tureen

// The Swift listings of the guide, so that the compiler reads them. GuideListingTests compares them with the pages; nothing runs them.

/// `guide/embedding.md`
func embedAHost() async throws -> Host {
  var settings = HostSettings()
  settings.home = "/var/lib/kiosk"
  let host = Host(settings: settings)

  let store = try await host.store()
  try await store.registerSoup("people", indexes: ["Id": .string, "LastName": .string])
  let syncs = try await host.syncManager()
  let query = "SELECT Id, LastName FROM Contact"
  let sync = try await syncs.syncDown(.soql(query), into: "people")
  print(sync.status.rawValue, sync.counts.stored)
  return host
}

/// `guide/embedding.md`
func runAScript(in host: Host) throws {
  let script = try ScriptState(host: host, limits: ScriptLimits())
  _ = script.run(text: "print(require('tureen').sdkinfo ~= nil)")
  script.close()
}

/// `guide/security.md`
func runAStrangersScript() async throws -> IsolatedEnd {
  var run = IsolatedRun()
  run.memoryLimit = 64 << 20
  run.timeLimitMs = 10_000
  let end = try await run.run(file: "stranger.lua")
  return end
}

/// `guide/plug-ins.md`
struct Printer: Plugin {
  let service = "com.acme.printer"
  var actions: [String: PluginAction] { ["print": print] }

  @Sendable func print(_ call: PluginCall) async throws -> JSONValue {
    guard let pages = call.arguments["pages"]?.integerValue else {
      throw BridgeError(domain: service, code: "noPages", message: "how many pages?")
    }
    for page in 1...max(1, pages) { call.progress(["page": .integer(page)]) }
    return ["pages": .integer(pages)]
  }
}

/// `guide/plug-ins.md`
func registerThePrinter(settings: HostSettings) throws {
  let host = Host(settings: settings)
  try host.register(Printer())
}

/// `guide/parse.md`
func saveABook(host: Host, author: ParseObject, password: String) async throws {
  let parse = try host.parse("library")
  let isbn = ParseObject("ISBN", ["value": "9780441013593"])
  var book = ParseObject("Book", ["title": "Dune", "isbn": isbn.pointer.json])
  book.link("authors", [author.pointer])
  for result in await parse.save([isbn, book]) { _ = try result.get() }
  let recent = try ParseQuery(
    "Book", .all([.greater("year", than: 1960), .exists("isbn")]))
  let found = try await parse.find(recent)
  parse.count(try ParseQuery("Book")) { result in print(result) }
  _ = try await parse.logIn("ada", password)
  print(found.count)
}
