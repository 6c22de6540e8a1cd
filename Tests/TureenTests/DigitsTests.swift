import JSON
import SandboxOrg
import Support
import TestSupport
import Testing
import Tureen

/// Tests that numbers which nobody touched keep their digits on their way through scripts, and back to the server.
@Suite(.timeLimit(.minutes(60))) struct DigitsTests {
  private static let numbers = ["18446744073709551615", "1.10", "1e3", "0.1000000000000000055", "12345678901234567.89", "1E-7"]
  private static let item =
    #"{"id":"1","name":"n","list":[\#(numbers.joined(separator: ","))],"#
    + numbers.enumerated().map { #""n\#($0)":\#($1)"# }.joined(separator: ",") + "}"

  private let before = """
    local await = tureen.await
    local function entry(soup)
      local spec = smartstore.buildSmartQuerySpec("SELECT {" .. soup .. ":_soup} FROM {" .. soup .. "}", 10)
      return assert(await(smartstore.runSmartQuery, spec)).currentPageOrderedEntries[1][1]
    end
    """

  private func configure(_ server: ScriptedServer) -> String {
    before + #" tureen.configure { connections = { api = { baseURL = "\#(server.url)" } } }"#
  }

  private func count(_ text: String) -> Int { Self.numbers.count { text.contains(":\($0)") } }

  @Test(arguments: ["PATCH", "PUT"]) func syncUp_ofAnEntryEditedByAScript_sendsTheNumbersAsTheyCame(method: String) async throws {
    let server = try ScriptedServer(handler: { request in
      request.method == "GET" && request.path == "/l" ? .json("[\(Self.item)]") : .json(Self.item)
    })
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        assert(await(smartstore.registerSoup, "s", { { path = "id", type = "string" } }))
        local target = { type = "rest", connection = "api", url = "/l", up = { precondition = "none",
          update = { url = "/l/{id}", method = "\(method)", fields = "*" } } }
        assert(await(mobilesync.syncDown, target, "s", {}, "d"))
        assert(await(mobilesync.markUpdated, "s", entry "s", { name = "edited" }))
        return assert(await(mobilesync.syncUp, target, "s", {}, "u")).succeeded
        """, before: configure(server))
    let sent = server.requests.filter { $0.method == method }
    #expect(result == 1 && sent.count == 1)
    #expect(sent.allSatisfy { count($0.text) == Self.numbers.count }, "\(sent.map(\.text))")
  }

  /// An answer with the record, a merge and a second sync down change nothing either.
  @Test func reSync_afterEditsOnBothSides_keepsTheNumbers() async throws {
    let server = try ScriptedServer(handler: { request in
      request.path == "/l" ? .json("[\(Self.item)]") : .json(Self.item)
    })
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        assert(await(smartstore.registerSoup, "s", { { path = "id", type = "string" } }))
        local target = { type = "rest", connection = "api", url = "/l", up = { read = { url = "/l/{id}" },
          update = { url = "/l/{id}", fields = { "name" } } } }
        assert(await(mobilesync.syncDown, target, "s", { mergeMode = "MERGE" }, "d"))
        assert(await(mobilesync.markUpdated, "s", entry "s", { name = "edited" }))
        assert(await(mobilesync.reSync, "d"))
        local up = assert(await(mobilesync.syncUp, target, "s", { mergeMode = "MERGE" }, "u"))
        assert(await(mobilesync.reSync, "d"))
        return { up.succeeded, up.conflicting, entry "s".list[1] == 18446744073709551615.0 }
        """, before: configure(server))
    #expect(result == [1, 0, true])
  }

  @Test func parseDate_ofEachMillisecond_isThatMillisecond() async throws {
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        local wrong = {}
        for _, seconds in ipairs { 0, 1, 1700000000, 253402300798, -1, -62135596800 } do
          for ms = 0, 999 do
            local iso = tureen.parse.date(seconds + ms / 1000).iso
            if not iso:find((".%03dZ"):format(ms), 1, true) then wrong[#wrong + 1] = iso end
          end
        end
        return { #wrong, tureen.parse.date(1700000000).iso, tureen.parse.date(-0.001).iso }
        """, before: before)
    #expect(result == [0, "2023-11-14T22:13:20.000Z", "1969-12-31T23:59:59.999Z"])
  }

  @Test func parseIncrement_beyond64Bits_doesNotWrap() async throws {
    let result = try await ScriptRunner(contacts: 0).value(
      of: """
        local object = tureen.parse.class("Counter") { n = math.maxinteger }
        object:increment("n", 1)
        local other = tureen.parse.class("Counter") { n = math.mininteger }
        other:increment("n", -1)
        local third = tureen.parse.class("Counter") { n = 1 }
        third:increment("n", 2)
        return { object:get "n" == 2.0 ^ 63, other:get "n" == -2.0 ^ 63, third:get "n" == 3, math.type(third:get "n") }
        """, before: before)
    #expect(result == [true, true, true, "integer"])
  }

  @Test(arguments: ["plain", "batch", "collection"]) func syncUp_byAnExternalIdThatIsANumber_works(type: String) async throws {
    let folder = try TemporaryFolder(), path = folder.path + "/schema.json"
    let field = #"{"name":"NumExt__c","type":"double","scale":0,"externalId":true,"unique":true}"#
    try FileSystem.write(Array(#"{"objects":[{"name":"Widget__c","fields":[\#(field)]}]}"#.utf8), to: path)
    let result = try await ScriptRunner(contacts: 0) { $0.schemaPath = path }.value(
      of: """
        assert(await(smartstore.registerSoup, "s", SPECS))
        local target = { type = "\(type)", externalIdFieldName = "NumExt__c", createFieldlist = { "Name", "NumExt__c" },
          updateFieldlist = { "Name" } }
        local counts = {}
        for i, number in ipairs { 5, 5, 7 } do
          assert(await(smartstore.clearSoup, "s"))
          assert(await(mobilesync.newRecord, "s", "Widget__c", { Name = "w" .. i, NumExt__c = number }))
          counts[i] = assert(await(mobilesync.syncUp, target, "s", {})).succeeded
        end
        return { counts, entry("s").Id:sub(1, 6) ~= "local_" }
        """, before: before)
    #expect(result == [[1, 1, 1], true])
  }
}
