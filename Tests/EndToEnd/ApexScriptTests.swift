import Foundation
import Glibc
import JSON
import Testing

/// Tests `tureen sandbox --apex FILE`: the responses of a Lua file, and its limits.
@Suite(.timeLimit(.minutes(60))) struct ApexScriptTests {
  /// A sandbox with an Apex file, and a signed-in client.
  private struct ApexOrg {
    let place: Workplace
    let sandbox: Sandbox
    let token: String

    struct Answer {
      let status: Int
      let head: String
      let body: String

      var json: JSONValue? { try? JSONValue(parsing: body) }
      var error: JSONValue? { json?.arrayValue?.first }
      var message: String { error?["message"]?.stringValue ?? "" }
    }

    init(_ file: String) async throws {
      place = try Workplace()
      let path = try place.write(file, to: "visits.lua")
      sandbox = try await Sandbox(place, options: ["--contacts", "0", "--accounts", "1", "--apex", path])
      let ended = try await place.run(
        "/usr/bin/curl",
        [
          "-sS", sandbox.url + "/services/oauth2/token", "-d", "grant_type=password", "-d", "client_id=\(sandbox.clientId)",
          "-d", "client_secret=\(sandbox.clientSecret)", "--data-urlencode", "username=\(sandbox.username)",
          "--data-urlencode", "password=\(sandbox.password)",
        ])
      token = try #require(try JSONValue(parsing: ended.output)["access_token"]?.stringValue)
    }

    func send(_ method: String, _ path: String, _ body: String? = nil, options: [String] = []) async throws -> Answer {
      let content = body.map { ["-H", "Content-Type: application/json", "--data-binary", $0] } ?? []
      let mark = "\n--status "
      let ended = try await place.run(
        "/usr/bin/curl",
        ["-sS", "-X", method, "-D", "head.txt", "-w", mark + "%{http_code}", "-H", "Authorization: Bearer \(token)"]
          + content + options + [sandbox.url + path])
      let parts = ended.output.components(separatedBy: mark)
      #expect(parts.count == 2, "\(ended)")
      let head = try String(contentsOfFile: place.path + "/head.txt", encoding: .utf8)
      return Answer(status: Int(parts.last ?? "") ?? 0, head: head, body: parts[0])
    }

    func apex(_ method: String, _ path: String, _ body: String? = nil, options: [String] = []) async throws -> Answer {
      try await send(method, "/services/apexrest" + path, body, options: options)
    }

    func count(_ type: String) async throws -> Int64? {
      try await send("GET", "/services/data/v66.0/query?q=SELECT+COUNT()+FROM+\(type)").json?["totalSize"]?.integerValue
    }

    /// Stops the sandbox. - Returns: Its stderr.
    func stop() async -> String {
      sandbox.child.send(SIGINT)
      let ended = await sandbox.child.ended()
      #expect(ended.status == 0)
      return ended.errors
    }
  }

  // MARK: Answers and records

  private static let visits = """
    #!/usr/bin/env tureen
    local apex = ...
    local tureen = require "tureen"

    apex.post("/visits/:name", function(request, org)
      local fields = request:json()
      local id = org.create("Contact", { LastName = request.parameters.name, Title = fields.title, Phone = tureen.null })
      org.update("Contact", id, { FirstName = fields.first })
      return 201, { id = id, by = request.userId }, { Location = "/visits/" .. request.parameters.name, ["X-Count"] = 1 }
    end)

    apex.get("/visits", function(request, org)
      return org.query("SELECT LastName, Title FROM Contact WHERE Title = " .. apex.quote(request.query.title))
    end)

    apex.get("/visits/count", function(_, org) return { n = org.query("SELECT COUNT() FROM Contact") } end)

    apex.delete("/visits/:name", function(request, org)
      for _, row in ipairs(org.query("SELECT Id FROM Contact WHERE LastName = " .. apex.quote(request.parameters.name))) do
        org.delete("Contact", row.Id)
      end
      return 204
    end)
    """

  @Test func apex_handlers_workWithTheOrgsRecords() async throws {
    let org = try await ApexOrg(Self.visits)
    let made = try await org.apex("POST", "/visits/Oslo", #"{"title":"it's","first":"Ada"}"#)
    #expect(made.status == 201 && made.json?["by"]?.stringValue?.hasPrefix("005") == true, "\(made)")
    #expect(made.head.contains("Location: /visits/Oslo\r\n") && made.head.contains("X-Count: 1\r\n"), "\(made.head)")
    // Other clients see the records of a handler, and the other way round.
    let id = try #require(made.json?["id"]?.stringValue)
    let row = try await org.send("GET", "/services/data/v66.0/sobjects/Contact/\(id)?fields=FirstName,Phone").json
    #expect(row?["FirstName"] == "Ada" && row?["Phone"] == .null)
    let other = try await org.send("POST", "/services/data/v66.0/sobjects/Contact", #"{"LastName":"Bergen","Title":"it's"}"#)
    #expect(other.status == 201)
    let list = try await org.apex("GET", "/visits?title=it%27s")
    #expect(list.status == 200 && list.json?.arrayValue?.map { $0["LastName"] } == ["Oslo", "Bergen"], "\(list)")
    #expect(list.head.contains("application/json;charset=UTF-8"))
    #expect(try await org.apex("GET", "/visits/count").json == ["n": 2])
    let gone = try await org.apex("DELETE", "/visits/Oslo")
    #expect(gone.status == 204 && gone.body.isEmpty)
    #expect(try await org.count("Contact") == 1)
    #expect(try await org.apex("PUT", "/visits/Oslo", "{}").status == 405)
    #expect(try await org.apex("GET", "/nothing").status == 404)
    let url = org.sandbox.url + "/services/apexrest/visits"
    let unsigned = try await org.place.run("/usr/bin/curl", ["-sS", "-o", "body", "-w", "%{http_code}", url])
    #expect(unsigned.output == "401")
    #expect(await org.stop() == "")
  }

  private static let values = """
    local apex = ...
    local tureen = require "tureen"
    apex.post("/echo", function(request) return 200, request:json() end)
    apex.post("/length", function(request) return { n = #request.body, last = request.body:byte(-1) } end)
    apex.post("/bytes", function(request) return 200, request.body, { ["Content-Type"] = "image/x" } end)
    apex.get("/values", function()
      return { null = tureen.null, list = tureen.array {}, map = {}, one = 1, half = 0.5, big = 9007199254740993, text = "ü" }
    end)
    apex.get("/text", function() return "text" end)
    apex.get("/nothing", function() end)
    apex.get("/null", function() return 200, tureen.null end)
    apex.get("/head", function(request)
      return { method = request.method, path = request.path, token = request.headers.authorization, x = request.headers["x-a"] }
    end)
    """

  @Test func apex_values_goThroughUnchanged() async throws {
    let org = try await ApexOrg(Self.values)
    let values = try await org.apex("GET", "/values").json
    #expect(
      values == ["null": .null, "list": [], "map": [:], "one": 1, "half": 0.5, "big": 9_007_199_254_740_993, "text": "ü"])
    #expect(try await org.apex("GET", "/text").body == #""text""#)
    let nothing = try await org.apex("GET", "/nothing")
    #expect(nothing.status == 200 && nothing.body.isEmpty)
    #expect(try await org.apex("GET", "/null").body == "null")
    let sent = #"[null,[],{},1,0.5,"\u0000ü",[[1]]]"#
    #expect(try await org.apex("POST", "/echo", sent).json == (try JSONValue(parsing: sent)))
    let broken = try await org.apex("POST", "/echo", "{")
    #expect(broken.status == 400 && broken.error?["errorCode"] == "JSON_PARSER_ERROR", "\(broken)")
    let head = try await org.apex("GET", "/head?x=1", options: ["-H", "X-A: b"]).json
    #expect(head == ["method": "GET", "path": "/services/apexrest/head", "x": "b"], "the token is not there")
    #expect(await org.stop() == "")
  }

  @Test func apex_bodies_largeAndNotUTF8_arriveWhole() async throws {
    let org = try await ApexOrg(Self.values)
    let bytes = Data([0xFF, 0x00, 0xC3, 0x28, 0x80])
    try bytes.write(to: URL(fileURLWithPath: org.place.path + "/bytes"))
    #expect(try await org.apex("POST", "/length", "@bytes").json == ["n": 5, "last": 0x80])
    let answer = try await org.apex("POST", "/bytes", "@bytes", options: ["-o", "back"])
    #expect(answer.status == 200 && answer.head.contains("image/x"))
    #expect(try Data(contentsOf: URL(fileURLWithPath: org.place.path + "/back")) == bytes)
    for (byte, count) in [(UInt8(0x20), 4 << 20), (0xFE, 256 << 10)] {
      try Data(repeating: byte, count: count).write(to: URL(fileURLWithPath: org.place.path + "/large"))
      let length = try await org.apex("POST", "/length", "@large").json
      #expect(length == ["n": .integer(Int64(count)), "last": .integer(Int64(byte))])
    }
    // The sandbox's own limit.
    try Data(repeating: 0x20, count: (16 << 20) + 1).write(to: URL(fileURLWithPath: org.place.path + "/larger"))
    #expect(try await org.apex("POST", "/length", "@larger").status == 413)
    #expect(await org.stop() == "")
  }

  // MARK: Errors of handlers

  private static let errors = """
    local apex = ...
    local function deep(t) return t.missing.member end
    apex.post("/raise", function(_, org)
      org.create("Contact", { LastName = "A" })
      local visit = deep {}
      return visit
    end)
    apex.post("/own", function(_, org)
      org.create("Contact", { LastName = "A" })
      apex.error(409, "VISIT_TAKEN", "somebody was faster")
    end)
    apex.post("/dml", function(_, org) return org.create("Contact", {}) end)
    apex.post("/query", function(_, org) return org.query("SELECT Nothing FROM Contact") end)
    apex.post("/caught", function(_, org)
      org.create("Contact", { LastName = "A" })
      local ok, err = pcall(org.create, "Contact", {})
      return { ok = ok, code = err.code }
    end)
    """

  @Test func apex_errorInAHandler_isAnApexErrorAndWritesNothing() async throws {
    let org = try await ApexOrg(Self.errors)
    let raised = try await org.apex("POST", "/raise", "{}")
    #expect(raised.status == 500 && raised.error?["errorCode"] == "APEX_ERROR", "\(raised)")
    #expect(raised.message.hasPrefix("System.Exception: ") && raised.message.contains("visits.lua:2: "), "\(raised.message)")
    #expect(!raised.body.contains("traceback"))
    let own = try await org.apex("POST", "/own", "{}")
    #expect(own.status == 409 && own.error == ["errorCode": "VISIT_TAKEN", "message": "somebody was faster"], "\(own)")
    let dml = try await org.apex("POST", "/dml", "{}")
    #expect(dml.status == 500 && dml.message.hasPrefix("System.DmlException: REQUIRED_FIELD_MISSING, "), "\(dml)")
    let query = try await org.apex("POST", "/query", "{}")
    #expect(query.status == 500 && query.message.hasPrefix("System.QueryException: ") && query.message.contains("Nothing"))
    #expect(try await org.count("Contact") == 0)
    let caught = try await org.apex("POST", "/caught", "{}")
    #expect(caught.json == ["ok": false, "code": "REQUIRED_FIELD_MISSING"], "\(caught)")
    #expect(try await org.count("Contact") == 1)
    let log = await org.stop()
    #expect(log.contains("tureen: POST /services/apexrest/raise: ") && log.contains("stack traceback"), "\(log)")
    #expect(log.contains("'deep'") && log.contains("visits.lua:5: "), "\(log)")
    #expect(!log.contains("VISIT_TAKEN") && !log.contains("somebody"), "an answer is not a failure")
  }

  private static let wrong = #"""
    local apex = ...
    local answers = {
      status = function() return 99 end, float = function() return 200.5 end, four = function() return 200, {}, {}, 1 end,
      order = function() return {}, 200, {} end, fn = function() return { visit = { f = print } } end,
      cycle = function() local t = {} t.t = t return t end, headers = function() return 200, {}, "x" end,
      name = function() return 200, {}, { ["X A"] = "b" } end, line = function() return 200, {}, { ["X-A"] = "b\r\nX-B: c" } end,
      value = function() return 200, {}, { ["X-A"] = {} } end, length = function() return 200, {}, { ["content-length"] = "1" } end,
      body = function() return 204, {} end, bytes = function() return { text = "\xff" } end,
    }
    apex.get("/wrong/:what", function(request) return answers[request.parameters.what]() end)
    """#

  @Test(arguments: [
    ("status", "the status 99"), ("float", "the status 200.5; it must be an integer"), ("four", "returned 4 values"),
    ("order", "returned a table first"), ("fn", "body.visit.f is a function"), ("cycle", "body"),
    ("headers", "a string as headers"), ("name", "'X A' is not a valid header name"), ("line", "'X-A' contains a line break"),
    ("value", "a header 'X-A' of type table"), ("length", "the header 'content-length' itself"),
    ("body", "a response with status 204 cannot have a body"), ("bytes", "body.text is not valid UTF-8"),
  ])
  func apex_wrongReturnValues_areNamed(what: String, problem: String) async throws {
    let org = try await ApexOrg(Self.wrong)
    let answer = try await org.apex("GET", "/wrong/\(what)")
    #expect(answer.status == 500 && answer.error?["errorCode"] == "APEX_ERROR", "\(answer)")
    #expect(answer.message.contains(problem), "\(answer.message)")
    #expect(!answer.head.contains("X-B"))
    _ = await org.stop()
  }

  // MARK: Limits

  private static let greedy = """
    local apex = ...
    local count = 0
    local handlers = {
      loop = function() while true do end end,
      caught = function() while true do pcall(function() while true do end end) end end,
      pattern = function() return (("a"):rep(3000)):find(("a*"):rep(40) .. "b") end,
      memory = function() return ("x"):rep(1 << 28) .. "y" end,
    }
    apex.post("/greedy/:what", function(request, org)
      org.create("Contact", { LastName = "A" })
      return handlers[request.parameters.what]()
    end)
    apex.get("/small", function()
      count = count + 1
      return { count = count }
    end)
    """

  @Test func apex_handlerWithoutEnd_isEndedAndTheOrgLivesOn() async throws {
    let org = try await ApexOrg(Self.greedy)
    for what in ["loop", "caught", "pattern"] {
      let answer = try await org.apex("POST", "/greedy/\(what)", "{}")
      #expect(answer.status == 500 && answer.error?["errorCode"] == "APEX_ERROR", "\(what): \(answer)")
      #expect(answer.message == "System.LimitException: Apex CPU time limit exceeded", "\(what): \(answer)")
    }
    let memory = try await org.apex("POST", "/greedy/memory", "{}")
    #expect(memory.status == 500 && memory.message == "System.LimitException: Apex heap size too large", "\(memory)")
    #expect(try await org.count("Contact") == 0)
    // The limit applies per request, and no state is kept between requests.
    for _ in 0..<3 { #expect(try await org.apex("GET", "/small").json == ["count": 1]) }
    let log = await org.stop()
    #expect(log.contains("visits.lua:4: Apex CPU time limit exceeded"), "\(log)")
  }

  @Test func apex_requestsAtOnce_waitForOneAnother() async throws {
    let org = try await ApexOrg(
      """
      local apex = ...
      apex.post("/next", function(_, org)
        local n = org.query("SELECT COUNT() FROM Contact")
        org.create("Contact", { LastName = tostring(n) })
        return { n = n }
      end)
      """)
    let url = org.sandbox.url + "/services/apexrest/next"
    let script = "for i in $(seq 8); do curl -sS -X POST -d '{}' -H \"Authorization: Bearer $TOKEN\" \(url) -w '\\n' & done; wait"
    let ended = try await org.place.run("/bin/bash", ["-c", script], environment: ["TOKEN": org.token])
    let numbers = ended.output.split(separator: "\n").compactMap { try? JSONValue(parsing: String($0))["n"]?.integerValue }
    #expect(numbers.sorted() == Array(0..<8), "\(ended)")
    #expect(await org.stop() == "")
  }

  @Test func apex_code_reachesNothingBeyondTheOrg() async throws {
    let org = try await ApexOrg(
      """
      local apex = ...
      local tureen = require "tureen"
      apex.get("/reach", function()
        local function refused(name, ...)
          local done, err
          tureen.exec(function() done = true end, function(e) done, err = true, e end, name, ...)
          while not done do tureen.poll(1000) end
          return err and err.code or "answered"
        end
        return {
          globals = { io = type(io), debug = type(debug), package = type(package), loadfile = type(loadfile),
            getenv = type(os.getenv), execute = type(os.execute) },
          require = pcall(require, "socket"), configure = pcall(tureen.configure, { home = "/" }),
          oauth = refused("com.salesforce.oauth", "getAuthCredentials", {}),
          store = refused("com.salesforce.smartstore", "pgSoupExists", { soupName = "x" }),
          network = refused("com.salesforce.network", "pgSendRequest", { endPoint = "", path = "/", method = "GET" }),
          sandbox = refused("tureen.sandbox", "query", { soql = "SELECT Id FROM Account" }),
        }
      end)
      """)
    let reach = try await org.apex("GET", "/reach").json
    let globals = try #require(reach?["globals"]?.objectValue)
    #expect(globals.allSatisfy { $0.value == "nil" }, "\(globals)")
    #expect(reach?["require"] == false && reach?["configure"] == false)
    for service in ["oauth", "store", "network"] { #expect(reach?[service] == "restricted", "\(service)") }
    #expect(reach?["sandbox"] == "unknownService")
    #expect(await org.stop() == "")
  }

  // MARK: Invalid files

  @Test(arguments: [
    ("local apex = ...\nlocal x = = 1", "visits.lua:2: unexpected symbol"),
    ("local apex = ...\n\nerror('no luck')", "visits.lua:3: no luck"),
    ("local apex = ...\napex.get('visits', print)", "visits.lua:2: apex.get: the path 'visits' must look like /visits/:name"),
    ("local apex = ...\napex.get('/visits')", "visits.lua:2: apex.get: argument 2 'handler' must be a function, got nil"),
    ("local apex = ...\napex.get('/a/:x/:x', print)", "visits.lua:2: apex.get: ':x' is in the path '/a/:x/:x' twice"),
    ("local apex = ...\napex.get('/a/:x', print)\napex.get('/A/:y', print)", "visits.lua:3: apex.get: GET /a/:x is registered"),
    ("local apex = ...\napex.get('/simpleaccount', print)", "GET /simpleaccount: the org's built-in class serves /simpleAccount"),
    ("return {}", "visits.lua: the file registers no handlers; call apex.get("),
    ("while true do end", "visits.lua:1: the file did not end"),
    ("io.open('/etc/passwd')", "visits.lua:1: attempt to index a nil value (global 'io')"),
  ])
  func apex_fileThatCannotBeUsed_endsTheCommandWithItsLine(text: String, problem: String) async throws {
    let place = try Workplace()
    let path = try place.write(text, to: "visits.lua")
    let ended = try await place.run(Built.tureen, ["sandbox", "--home", place.home, "--apex", path])
    #expect(ended.status == 69 && ended.output == "", "\(ended)")
    #expect(ended.errors.hasPrefix("tureen: the sandbox org cannot be started: ") && ended.errors.contains(problem), "\(ended)")
    #expect(ended.errors.split(separator: "\n").count == 1, "\(ended.errors)")
  }

  @Test func apex_fileThatIsNotThereOrNotText_endsTheCommand() async throws {
    let place = try Workplace()
    let missing = try await place.run(Built.tureen, ["sandbox", "--home", place.home, "--apex", "none.lua"])
    #expect(missing.status == 69 && missing.errors.contains("none.lua: No such file or directory"), "\(missing)")
    try Data([0xFF, 0xFE]).write(to: URL(fileURLWithPath: place.path + "/bytes.lua"))
    let bytes = try await place.run(Built.tureen, ["sandbox", "--home", place.home, "--apex", "bytes.lua"])
    #expect(bytes.status == 69 && bytes.errors.contains("bytes.lua: not valid UTF-8"), "\(bytes)")
  }
}
