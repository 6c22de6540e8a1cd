import JSON
import LuaBridge
import TestSupport
import Testing
import Tureen

/// Tests plug-ins that a program registers with its host.
@Suite struct PluginTests {
  private struct Printer: Plugin {
    let service = "com.acme.printer"
    let host: Host?

    var actions: [String: PluginAction] {
      [
        "print": { call in
          try host?.emit("com.acme.printer.printed", ["pages": call.arguments["pages"] ?? 0])
          return call.arguments["pages"] ?? 0
        }
      ]
    }
  }

  @Test func script_callsAPluginOfItsHost_andHearsItsEvent() async throws {
    let runner = try await ScriptRunner()
    let host = runner.makeHost()
    try host.register(Printer(host: host))
    let result = try await runner.value(
      of: """
        local heard
        tureen.document.addEventListener("com.acme.printer.printed", function(event) heard = event.detail.pages end)
        local pages = assert(tureen.await(tureen.service("com.acme.printer").print, { pages = 3 }))
        return { pages, heard }
        """, before: "", on: host)
    #expect(result == [3, 3])
  }

  @Test func restrictedScript_reachesNamedServicesAlone() async throws {
    for isSafe in [true, false] {
      let runner = try await ScriptRunner()
      let host = runner.makeHost {
        $0.isRestricted = true
        if isSafe { $0.allowedServices.insert("com.acme.printer") }
        $0.services["clock"] = { _, _ in 1 }
      }
      try host.register(Printer(host: nil))
      let result = try await runner.value(
        of: """
          local pages, err = tureen.await(tureen.service("com.acme.printer").print, { pages = 3 })
          local _, clock = tureen.await(tureen.service("clock").now)
          return { pages or err.code, clock.code }
          """, before: "", on: host)
      #expect(result == [isSafe ? 3 : "restricted", "restricted"])
    }
  }

  @Test func register_wrongAndTakenNames_isRefused() throws {
    let host = Host()
    try host.register(Printer(host: nil))
    #expect(throws: BridgeError.self) { try host.register(Printer(host: nil)) }
    #expect(host.unregister("com.acme.printer") && !host.unregister("com.acme.printer"))
    #expect(!host.unregister("com.salesforce.smartstore"))
    try host.register(Printer(host: nil))
    try host.emit("com.acme.printer.printed")
  }
}
