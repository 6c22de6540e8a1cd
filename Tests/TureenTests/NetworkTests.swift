import JSON
import TestSupport
import Testing

/// Tests `network.sendRequest` from scripts against a sandbox org over HTTP.
@Suite struct NetworkTests {
  /// Runs `body` as a task and records its result under `result`.
  private func run(_ body: String, contacts: Int = 1) async throws -> JSONValue? {
    try await ScriptRunner(contacts: contacts).value(of: body, before: "local network, await = tureen.network, tureen.await")
  }

  @Test func sendRequest_optionsForm_givesTheParsedAnswer() async throws {
    let result = try await run(
      """
      local answer = assert(await(network.sendRequest, {
        endPoint = "/services/data", path = "/v66.0/query", queryParams = { q = "SELECT COUNT() FROM Contact" } }))
      return answer.totalSize
      """, contacts: 30)
    #expect(result == 30)
  }

  @Test func sendRequest_modelsPositions_answersTheCallbacksInTheMiddle() async throws {
    let runner = try await ScriptRunner()
    let outcome = try await runner.run(
      """
      local function failed(err) note("result", tostring(err)) end
      tureen.network.sendRequest("/services/data", "/v66.0/sobjects/Contact", function(created)
        note("created", created.success)
        tureen.network.sendRequest("/services/data", "/v66.0/sobjects/Contact/" .. created.id, function(body)
          note("deleted", body)
        end, failed, "delete")
      end, failed, "POST", { LastName = "Ärger & Söhne" }, { ["Sforce-Call-Options"] = "client=x" })
      assert(tureen.run())
      """)
    #expect(outcome == .done)
    #expect(runner.noted("result") == [])
    #expect(runner.noted("created") == [true])
    #expect(runner.noted("deleted") == ["OK"])
    await runner.server.stop()
  }

  @Test func sendRequest_serverRefuses_givesStatusHeadersBodyAndErrors() async throws {
    let result = try await run(
      """
      local body, err = await(network.sendRequest, {
        path = "/services/data/v66.0/sobjects/Contact", method = "POST", queryParams = { FirstName = "x" } })
      return { err.domain, err.code, err.status, err.errors[1].errorCode, err.headers["content-type"] ~= nil, body == nil, err.source }
      """)
    #expect(
      result == [
        "network", "httpStatus", 400, "REQUIRED_FIELD_MISSING", true, true, "com.salesforce.network:pgSendRequest",
      ])
  }

  @Test(arguments: [
    (#"method = "POST", body = { a = { 1, "x" } }"#, "POST", "/x", #"{"a":[1,"x"]}"#, "application/json"),
    (#"method = "put", body = tureen.array { 1, 2 }"#, "PUT", "/x", "[1,2]", "application/json"),
    (#"method = "PATCH", body = {}, queryParams = { q = "a b" }"#, "PATCH", "/x?q=a%20b", "{}", "application/json"),
    (#"method = "DELETE", body = { ids = { 1 } }"#, "DELETE", "/x", #"{"ids":[1]}"#, "application/json"),
    (
      #"method = "POST", body = "a=1&b=2", headerParams = { ["Content-Type"] = "application/x-www-form-urlencoded" }"#,
      "POST", "/x", "a=1&b=2", "application/x-www-form-urlencoded"
    ),
    (#"method = "POST", body = tureen.null, queryParams = { a = 1 }"#, "POST", "/x", #"{"a":1}"#, "application/json"),
    (#"method = "POST", queryParams = { a = 1 }"#, "POST", "/x", #"{"a":1}"#, "application/json"),
  ])
  func sendRequest_body_isSent(options: String, method: String, target: String, body: String, type: String) async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") })
    defer { server.stop() }
    _ = try await run(
      """
      assert(await(network.sendRequest, { path = "\(server.url)/x", doesNotRequireAuthentication = true, \(options) }))
      return true
      """)
    let sent = try #require(server.requests.first)
    #expect(sent.method == method && sent.target == target && sent.header("content-type") == type)
    #expect(sent.text == body)
  }

  @Test func sendRequest_withoutAuthentication_sendsNoToken() async throws {
    let result = try await run(
      """
      local open = await(network.sendRequest, { path = "/services/data", doesNotRequireAuthentication = true })
      local _, err = await(network.sendRequest, { path = "/services/data/v66.0/sobjects", doesNotRequireAuthentication = true })
      return { #open > 0, err.status, err.errors[1].errorCode }
      """)
    #expect(result == [true, 401, "INVALID_SESSION_ID"])
  }

  @Test func sendRequest_returnBinary_givesTheBytes() async throws {
    let result = try await run(
      """
      local result = assert(await(network.sendRequest, { path = "/services/data", returnBinary = true }))
      return { network.bytes(result):sub(1, 1), result.contentType:match("^[^;]+") }
      """)
    #expect(result == ["[", "application/json"])
  }

  @Test(arguments: [
    (#"{ path = "/x", method = "BREW" }"#, "argument 'method' must be one of GET, POST, PUT, PATCH, DELETE, HEAD, got 'BREW'"),
    (#"{ path = "/x", queryParams = "[1]" }"#, "argument 'queryParams' must be an object, or the JSON text of one"),
    (
      #"{ path = "/x", headerParams = { ["a b"] = "c" } }"#, "argument 'headerParams' has 'a b', which is not a valid header name"
    ),
    (
      #"{ path = "/x", headerParams = { a = "b\r\nc: d" } }"#,
      "argument 'headerParams.a' contains a line break or another control character"
    ),
    (
      #"{ path = "/x", method = "POST", fileParams = { f = {} } }"#,
      "argument 'fileParams.f.fileUrl' is missing, expected the path of a file"
    ),
    (
      #"{ path = "/x", fileParams = { f = { fileUrl = "/y" } } }"#,
      "argument 'fileParams' needs a method with a body, such as POST, got GET"
    ),
    (
      #"{ path = "/x", method = "POST", fileParams = { f = { fileUrl = "/no/such/file" } } }"#,
      "cannot read /no/such/file: No such file or directory"
    ),
    (
      #"{ path = "/x", body = { a = 1 } }"#,
      "argument 'body' needs a method with a body, such as POST, got GET; queryParams are its query"
    ),
    (
      #"{ path = "/x", method = "POST", body = "a", fileParams = { f = { fileUrl = "/no/such/file" } } }"#,
      "argument 'body' and 'fileParams' exclude each other: with 'fileParams', 'queryParams' are parts of the body"
    ),
    (#"{ path = "/x y" }"#, "'/x y' contains characters that must be percent-encoded"),
    (#"{ path = "http://example.com/" }"#, "unencrypted http is allowed only on this machine, not for 'example.com'"),
  ])
  func sendRequest_badArguments_sayWhatIsWrong(options: String, message: String) async throws {
    let result = try await run("return select(2, await(network.sendRequest, \(options))).message")
    #expect(result?.stringValue == message)
  }

  @Test func sendRequest_misuse_raises() async throws {
    let result = try await run(
      """
      local messages = {}
      for i, arguments in ipairs { { {} }, { { path = 1 } }, { { path = "/", nonsense = 1 } }, { { path = "/", body = 7 } },
        { { path = "/", headers = {} } }, { { path = "/", data = {} } }, { { path = "/", bodi = {} } },
        { { path = "/", [1] = "x" } }, { "/", nil }, { "/", "/", 7 } } do
        local ok, err = pcall(network.sendRequest, table.unpack(arguments, 1, 3))
        messages[i] = ok and "nothing raised" or err.message
      end
      return messages
      """)
    let known =
      "known: queryParams, body, endPoint, path, method, headerParams, fileParams, returnBinary, "
      + "doesNotRequireAuthentication, expects, connection, cache, returnResponse"
    #expect(
      result == [
        "sendRequest: argument 1 'options.path' must be a string, got nil",
        "sendRequest: argument 1 'options.path' must be a string, got number",
        .string("sendRequest: argument 1 'options' has the unknown key 'nonsense'; \(known)"),
        "sendRequest: argument 1 'options.body' must be a table or a string, got number",
        "sendRequest: argument 1 'options' has the unknown key 'headers'; did you mean 'headerParams'?",
        "sendRequest: argument 1 'options' has the unknown key 'data'; did you mean 'body'?",
        "sendRequest: argument 1 'options' has the unknown key 'bodi'; did you mean 'body'?",
        .string("sendRequest: argument 1 'options' has the unknown key '1'; \(known)"),
        "sendRequest: argument 2 'path' must be a string, got nil",
        "sendRequest: argument 3 'success' must be a function, got number",
      ])
  }

  @Test func sendRequest_cancelled_endsWithAnError() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let server = try ScriptedServer(.never)
    let outcome = try await runner.run(
      """
      local id = tureen.network.sendRequest({ path = "\(server.url)/x", doesNotRequireAuthentication = true },
        function() note("result", "answered") end, function(err) note("result", err.code) end)
      tureen.after(1, function() tureen.cancel(id) end)
      assert(tureen.run())
      """)
    #expect(outcome == .done)
    #expect(runner.noted("result") == ["cancelled"])
    server.stop()
    await runner.server.stop()
  }
}
