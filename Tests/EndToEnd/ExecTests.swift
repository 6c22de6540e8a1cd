import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// Tests `tureen exec`, which makes one call of the bridge from a shell.
@Suite struct ExecTests {
  private func exec(
    _ place: Workplace, _ arguments: String..., input: String? = nil, environment: [String: String] = [:]
  ) async throws -> Child.Ended {
    try await Child(
      Built.tureen, ["exec", "--home", place.home] + arguments, environment: environment, in: place.path, input: input
    ).ended()
  }

  @Test func exec_storeCalls_printOneLineOfJSON() async throws {
    let place = try Workplace()
    let registered = try await exec(
      place, "smartstore", "pgRegisterSoup", #"{"soupName":"notes","indexes":[{"path":"title","type":"string"}]}"#)
    #expect(registered.status == 0 && registered.output == "\"notes\"\n" && registered.errors == "", "\(registered)")
    let entries = try place.write(#"{"soupName": "notes", "entries": [{"title": "one"}, {"title": "two"}]}"#, to: "entries.json")
    let stored = try await exec(place, "com.salesforce.smartstore", "pgUpsertSoupEntries", "-", input: entries)
    #expect(stored.status == 0, "\(stored)")
    let titles = try JSONValue(parsing: stored.output).arrayValue?.map { $0["title"]?.stringValue }
    #expect(titles == ["one", "two"] && stored.output.filter { $0 == "\n" }.count == 1)
    let found = try await exec(
      place, "smartstore", "pgRunSmartQuery",
      #"{"querySpec":{"queryType":"smart","smartSql":"SELECT count(*) FROM {notes}","pageSize":1}}"#)
    #expect(try JSONValue(parsing: found.output)["currentPageOrderedEntries"] == [[2]])
  }

  @Test func exec_syncDown_waitsForItsEnd() async throws {
    let place = try Workplace()
    #expect(
      try await exec(place, "smartstore", "pgRegisterSoup", #"{"soupName":"c","indexes":[{"path":"Id","type":"string"}]}"#)
        .status == 0)
    let target = #"{"target":{"type":"soql","query":"SELECT Id FROM Contact"},"soupName":"c","options":{},"syncName":"down"}"#
    let sync = try await exec(place, "--json", "mobilesync", "syncDown", target)
    #expect(sync.status == 0, "\(sync)")
    let state = try JSONValue(parsing: sync.output)
    #expect(state["status"] == "DONE" && state["totalSize"] == 5000)
    let events = try sync.errors.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
    #expect(events.first?["detail"]?["status"] == "RUNNING" && events.last?["detail"]?["status"] == "DONE")
    let again = try await exec(place, "mobilesync", "reSync", #"{"syncName":"down"}"#)
    #expect(again.status == 0 && again.errors == "", "\(again)")
  }

  @Test(arguments: [
    (["smartstore", "pgSoupExists", "{"], "JSON"), (["smartstore", "pgSoupExists", "[1]"], "object"),
    (["smartstore", "pgFly", "{}"], "unknownAction"), (["nothing", "pgFly"], "unknownService"),
    (["smartstroe", "pgSoupExists"], "did you mean 'com.salesforce.smartstore'?"), ([], "<service>"),
    (["smartstore", "pgQueryZoup"], "did you mean 'pgQuerySoup'?"), (["--list", "smartstroe"], "did you mean 'smartstore'?"),
    (["smartstore", "pgSoupExists", #"{"soupName":"x","storename":"y"}"#], "did you mean 'storeName'?"),
    (["smartstore", "pgSoupExists", "{}"], "soupName"), (["smartstore"], "<action>"),
    (["smartstore", "pgObserve"], "tureen run"),
  ])
  func exec_wrongUsage_is64AndNamesIt(arguments: [String], named: String) async throws {
    let ended = try await Workplace().run(Built.tureen, ["exec"] + arguments)
    #expect(ended.status == 64 && ended.output == "")
    #expect(ended.errors.contains(named), "\(ended.errors)")
  }

  @Test func exec_list_showsServicesActionsAndWhatTheyTake() async throws {
    let place = try Workplace()
    let all = try await exec(place, "--list")
    #expect(all.status == 0 && all.errors == "")
    for text in [
      "smartstore  (com.salesforce.smartstore)\n", "  pgQuerySoup  soupName querySpec\n",
      "  reSync  [syncId] [syncName] [maxRequests]\n",
      "keyvalue  (tureen.keyvalue)\n", "      Runs a saved sync again",
    ] { #expect(all.output.contains(text), "\(text) is missing in \(all.output)") }
    let one = try await exec(place, "--list", "keyvalue")
    #expect(one.status == 0 && one.output.contains("kvPut  name key value [isBase64]") && !one.output.contains("pgQuerySoup"))
  }

  @Test func exec_actionByItsLuaName_isFound() async throws {
    let ended = try await exec(Workplace(), "smartstore", "soupExists", #"{"soupName":"x"}"#)
    #expect(ended.status == 0 && ended.output == "false\n", "\(ended)")
  }

  @Test func exec_failedCall_is1AndSaysWhyAsTextOrJSON() async throws {
    let place = try Workplace()
    let call = ["smartstore", "pgClearSoup", #"{"soupName":"missing"}"#]
    let text = try await place.run(Built.tureen, ["exec", "--home", place.home] + call)
    #expect(text.status == 1 && text.output == "")
    #expect(text.errors == "tureen: Soup: missing does not exist (smartstore/noSuchSoup)\n")
    let json = try await place.run(Built.tureen, ["exec", "--json", "--home", place.home] + call)
    #expect(json.status == 1 && json.output == "")
    #expect(try JSONValue(parsing: json.errors)["code"] == "noSuchSoup")
  }

  @Test func exec_mistypedSoupOrSync_isToldWhatWasMeant() async throws {
    let place = try Workplace()
    let soup = #"{"soupName":"notes","indexes":[{"path":"title","type":"string"}]}"#
    #expect(try await exec(place, "smartstore", "registerSoup", soup).status == 0)
    let missing = try await exec(place, "smartstore", "clearSoup", #"{"soupName":"nots"}"#)
    #expect(
      missing.status == 1 && missing.errors.contains("does not exist; did you mean 'notes'? (smartstore/noSuchSoup)"),
      "\(missing)")
    let target = #"{"target":{"type":"soql","query":"SELECT Id FROM Contact"},"soupName":"notes","syncName":"notesDown"}"#
    #expect(try await exec(place, "mobilesync", "createSyncDown", target).status == 0)
    let sync = try await exec(place, "--json", "mobilesync", "reSync", #"{"syncName":"noteDown"}"#)
    let error = try JSONValue(parsing: sync.errors)
    #expect(
      error["code"] == "noSuchSync" && error["message"]?.stringValue?.hasSuffix("did you mean 'notesDown'?") == true, "\(sync)")
  }

  @Test func exec_orgThatIsBusy_is75() async throws {
    let place = try Workplace()
    let busy = try ScriptedServer(handler: { _ in .restError(503, "BUSY", "later", headers: [("Retry-After", "3600")]) })
    let environment = [
      "TUREEN_ORG": busy.url, "TUREEN_CLIENT_ID": "c", "TUREEN_CLIENT_SECRET": "s", "TUREEN_USERNAME": "u",
      "TUREEN_PASSWORD": "p",
    ]
    let ended = try await exec(place, "network", "pgSendRequest", #"{"path":"/services/data"}"#, environment: environment)
    #expect(ended.status == 75 && ended.errors.contains("later"), "\(ended)")
  }

  @Test func exec_interruptedSync_is130AndSavedAsStopped() async throws {
    let place = try Workplace()
    let org = try PagedOrg(holdsFrom: 2)
    #expect(
      try await exec(
        place, "smartstore", "pgRegisterSoup", #"{"soupName":"c","indexes":[{"path":"Id","type":"string"}]}"#,
        environment: org.environment
      ).status == 0)
    let target = #"{"target":{"type":"soql","query":"SELECT Id, LastModifiedDate FROM Contact"},"soupName":"c","syncName":"d"}"#
    let child = try Child(
      "/bin/sh", ["-c", #"exec "$0" exec --json --home "$1" mobilesync syncDown "$2" 2>&1"#, Built.tureen, place.home, target],
      environment: org.environment, in: place.path)
    #expect(await child.prints(#""progress":20"#))
    child.send(SIGINT)
    let ended = await child.ended()
    #expect(ended.status == 130)
    #expect(ended.output.contains(#""status":"STOPPED""#))
    org.open()
    let status = try await exec(place, "mobilesync", "getSyncStatus", #"{"syncName":"d"}"#, environment: org.environment)
    #expect(try JSONValue(parsing: status.output)["status"] == "STOPPED")
  }

  @Test func exec_customTarget_failsAndSaysWhereItWorks() async throws {
    let place = try Workplace()
    #expect(
      try await exec(place, "smartstore", "pgRegisterSoup", #"{"soupName":"c","indexes":[{"path":"Id","type":"string"}]}"#)
        .status == 0)
    let ended = try await exec(
      place, "mobilesync", "syncDown", #"{"target":{"type":"custom","luaImpl":"x"},"soupName":"c","options":{}}"#)
    #expect(ended.status == 1)
    #expect(ended.errors.contains("type 'custom'") && ended.errors.contains("tureen run"), "\(ended.errors)")
  }

  @Test func exec_resolver_failsAtAConflictAndSaysWhatToDo() async throws {
    let place = try Workplace()
    let script = try place.write(
      """
      local tureen = require "tureen"
      local smartstore, await = tureen.smartstore, tureen.await
      tureen.async(function()
        assert(await(smartstore.registerSoup, "c", { { path = "Id", type = "string" }, { path = "__local__", type = "string" } }))
        assert(await(tureen.mobilesync.syncDown, { type = "soql", query = "SELECT Id, Title FROM Contact LIMIT 1" }, "c",
          { mergeMode = "MERGE", fieldlist = { "Title" } }))
        local entry = await(smartstore.retrieveSoupEntries, "c", { 1 })[1]
        entry.Title, entry.__local__, entry.__locally_updated__ = "mine", true, true
        assert(await(smartstore.upsertSoupEntries, "c", { entry }))
        assert(await(require "tureen.sandbox".update, "Contact", entry.Id, { Title = "theirs" }))
      end)
      """, to: "script.lua")
    let prepared = try await place.runScript(script)
    #expect(prepared.status == 0, "\(prepared.errors)")
    let ended = try await exec(
      place, "mobilesync", "syncUp",
      #"{"target":{"type":"plain"},"soupName":"c","options":{"mergeMode":"MERGE","fieldlist":["Title"],"resolver":"mine"}}"#)
    #expect(ended.status == 1)
    #expect(ended.errors.contains("the option 'resolver'") && ended.errors.contains("getConflicts"), "\(ended.errors)")
  }
}
