import JSON
import LuaBridge
import RestClient
import TestSupport
import Testing

@testable import Tureen

/// Tests what restricted scripts may use by default, and what the names in `allowedServices` and `allowedHosts` add.
@Suite(.timeLimit(.minutes(60))) struct CapabilityTests {
  /// Lua code that calls what goes beyond the org's data in the user's own stores, and lists the outcomes by name.
  private static let attempts = """
    local outcomes = {}
    local function raw(service, action, args)
      local _, err = await(tureen.service(service)[action], args)
      outcomes[action] = err and (err.domain .. "/" .. err.code) or "success"
    end
    raw("com.salesforce.smartstore", "pgSoupExists", { soupName = "x", isGlobalStore = true })
    raw("com.salesforce.smartstore", "pgGetAllGlobalStores", {})
    raw("com.salesforce.smartstore", "pgRemoveAllGlobalStores", {})
    raw("com.salesforce.mobilesync", "hasSyncWithName", { syncName = "x", isGlobalStore = true })
    raw("tureen.keyvalue", "kvStores", { isGlobalStore = true })
    raw("tureen.asset", "path", { url = "https://example.com/a.png" })
    raw("tureen.accounts", "getOrgs", {})
    raw("tureen.host", "doctor", { offline = true })
    raw("com.salesforce.oauth", "logoutCurrentUser", {})
    return outcomes
    """

  private func outcomes(_ allowed: Set<String>) async throws -> JSONObject {
    let runner = try await ScriptRunner(contacts: 1)
    let host = runner.makeHost {
      $0.isRestricted = true
      $0.allowedServices.formUnion(allowed)
    }
    return try #require(
      try await runner.value(of: Self.attempts, before: "local await = tureen.await", on: host)?.objectValue)
  }

  private static let services: [String: Set<String>] = [
    "com.salesforce.smartstore": ["pgSoupExists", "pgGetAllGlobalStores", "pgRemoveAllGlobalStores"],
    "com.salesforce.mobilesync": ["hasSyncWithName"], "tureen.keyvalue": ["kvStores"], "tureen.asset": ["path"],
    "tureen.accounts": ["getOrgs"], "tureen.host": ["doctor"], "com.salesforce.oauth": ["logoutCurrentUser"],
  ]

  @Test func restrictedScript_nothingAllowed_isRefusedWhatGoesBeyondItsOwnStores() async throws {
    let outcomes = try await outcomes([])
    #expect(Set(outcomes.keys) == Set(Self.services.values.joined()))
    for (action, outcome) in outcomes { #expect(outcome == "bridge/restricted", "\(action)") }
  }

  @Test(arguments: services.keys.sorted())
  func restrictedScript_serviceAllowed_getsItsActionsAndNoOthers(service: String) async throws {
    let own = try #require(Self.services[service])
    for (action, outcome) in try await outcomes([service]) {
      #expect(outcome == (own.contains(action) ? "success" : "bridge/restricted"), "\(action)")
    }
  }

  @Test func restrictedScript_worksWithTheOrgAndItsStoresByDefault() async throws {
    let runner = try await ScriptRunner(contacts: 3)
    let result = try await runner.value(
      of: """
        assert(await(smartstore.registerSoup, "c", SPECS))
        local sync = assert(await(mobilesync.syncDown, CONTACTS, "c", OVERWRITE))
        assert(await(tureen.network.sendRequest, "/services/data", "/v66.0/sobjects"))
        assert(await(tureen.oauth.getAuthCredentials))
        assert(await(tureen.sfaccountmanager.getCurrentUser))
        assert(await(tureen.accounts.getIdentity))
        assert(await(tureen.sdkinfo.getInfo))
        assert(await(smartstore.getAllStores))
        return sync.totalSize
        """, before: "local await = tureen.await", on: runner.makeHost { $0.isRestricted = true })
    #expect(result == 3)
  }

  @Test func restrictedScript_refused_namesWhatAndTheOption() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let host = runner.makeHost {
      $0.isRestricted = true
      $0.allowedServices = ["test", "tureen.keyvalue"]
    }
    let result = try await runner.value(
      of: """
        local _, out = await(tureen.oauth.logoutCurrentUser)
        local _, global = await(tureen.service("com.salesforce.smartstore").pgSoupExists, { soupName = "x", isGlobalStore = true })
        return { out.message, global.message }
        """, before: "local await = tureen.await", on: host)
    func message(_ what: String, _ service: String) -> JSONValue {
      .string(
        "\(what) is not available to a restricted script (--restricted); allow it with --allow-service \(service), or "
          + "HostSettings.allowedServices in Swift; allowed so far: test, tureen.keyvalue")
    }
    #expect(
      result == [
        message("oauth.logoutCurrentUser", "com.salesforce.oauth"),
        message("the global store 'defaultStore'", "com.salesforce.smartstore"),
      ])
  }

  @Test func restrictedScript_oauthAllowed_seesTheAccessTokenAndNoRefreshToken() async throws {
    let runner = try await ScriptRunner(contacts: 1)
    let host = runner.makeHost {
      $0.isRestricted = true
      $0.allowsRefreshToken = true
      $0.allowedServices.insert("com.salesforce.oauth")
    }
    let result = try await runner.value(
      of: """
        assert(await(tureen.oauth.authenticate))
        local credentials = assert(await(tureen.oauth.getAuthCredentials))
        local _, err = await(tureen.network.sendRequest, { path = "https://192.0.2.1/x", doesNotRequireAuthentication = true })
        return { type(credentials.accessToken), credentials.refreshToken == nil, err.domain .. "/" .. err.code }
        """, before: "local await = tureen.await", on: host)
    #expect(result == ["string", true, "network/restricted"])
  }

  @Test func restrictedScript_accountsAllowed_switchesToAnotherUser() async throws {
    let home = try await AccountHome()
    let host = home.host {
      $0.isRestricted = true
      $0.allowedServices.insert("com.salesforce.sfaccountmanager")
    }
    let result = try await home.value(of: "return { #assert(await(accounts.getUsers)), switch(BOB), whoami() }", on: host)
    #expect(result == [3, "OK", "bob"])
  }

  @Test func restrictedScript_hostAllowed_reachesItWithoutTheSession() async throws {
    let server = try ScriptedServer(handler: { _ in .json(#"{"here":true}"#) })
    let runner = try await ScriptRunner(contacts: 1)
    let host = runner.makeHost {
      $0.isRestricted = true
      $0.allowedHosts = ["127.0.0.1:\(server.port)"]
    }
    let result = try await runner.value(
      of: """
        local answer = assert(await(tureen.network.sendRequest, { path = "\(server.url)/x", doesNotRequireAuthentication = true }))
        local _, err = await(tureen.network.sendRequest, { path = "http://127.0.0.1:1/x", doesNotRequireAuthentication = true })
        return { answer.here, err.domain .. "/" .. err.code, err.message:match("^host '127.0.0.1:1'") ~= nil }
        """, before: "local await = tureen.await", on: host)
    #expect(result == [true, "network/restricted", true])
    #expect(server.requests.map { $0.header("Authorization") } == [nil])
  }

  /// A connection of the program reaches no host that is not named, in requests and in syncs.
  @Test func restrictedScript_connectionOfTheProgram_needsItsHost() async throws {
    let server = try ScriptedServer(handler: { _ in .json(#"[{"id": 1}]"#) })
    for isAllowed in [false, true] {
      let runner = try await ScriptRunner(contacts: 1)
      let connection = try ConnectionSettings(name: "books", baseURL: server.url)
      let host = runner.makeHost {
        $0.isRestricted = true
        $0.connections = [connection]
        if isAllowed { $0.allowedHosts = ["127.0.0.1:\(server.port)"] }
      }
      let result = try await runner.value(
        of: """
          assert(await(smartstore.registerSoup, "b", { { path = "id", type = "string" } }))
          local target = { type = "rest", connection = "books", url = "/books", idFieldName = "id" }
          local _, err = await(tureen.network.sendRequest, { connection = "books", path = "/books" })
          local _, failed = await(mobilesync.syncDown, target, "b", OVERWRITE)
          return { err and err.domain .. "/" .. err.code or "success", failed and failed.domain .. "/" .. failed.code or "success" }
          """, before: "local await = tureen.await", on: host)
      let outcome: JSONValue = isAllowed ? "success" : "network/restricted"
      #expect(result == [outcome, outcome])
    }
  }

  // MARK: Names

  private func problem(_ change: (inout HostSettings) -> Void) throws -> HostError? {
    let folder = try TemporaryFolder()
    var settings = HostSettings()
    settings.home = folder.path + "/home"
    settings.isRestricted = true
    change(&settings)
    do {
      try Host(settings: settings).prepare()
      return nil
    } catch let error as HostError {
      return error
    }
  }

  @Test(arguments: [
    ("com.salesforce.smartstor", "did you mean 'com.salesforce.smartstore'?"),
    ("com.salesforc.oauth", "did you mean 'com.salesforce.oauth'?"), ("oauth", "did you mean 'com.salesforce.oauth'?"),
    ("tureen.keyvalues", "did you mean 'tureen.keyvalue'?"), ("*", "known: com.salesforce.mobilesync"),
  ])
  func prepare_unknownService_isRefusedWithASuggestion(name: String, hint: String) throws {
    let error = try #require(try problem { $0.allowedServices = [name] })
    #expect(error.code == .invalidConfiguration)
    #expect(error.message.hasPrefix("allowedServices: unknown service '\(name)'; \(hint)"), "\(error)")
  }

  @Test func prepare_namesOfPluginsAndServices_areAccepted() throws {
    let names = Set(ActionCatalog.services + ["com.acme.printer", "clock"])
    let error = try problem {
      $0.services["clock"] = { _, _ in 1 }
      $0.allowedServices = names
      $0.allowedHosts = ["api.example.com", "localhost:8080"]
    }
    #expect(error == nil, "\(error as Any)")
  }

  @Test func prepare_wildcardHost_isRefused() throws {
    let error = try #require(try problem { $0.allowedHosts = ["*.example.com"] })
    #expect(error.code == .invalidConfiguration && error.message.hasPrefix("allowedHosts: '*.example.com' has a wildcard"))
  }

  /// The name of a plug-in cannot be checked before the plug-in is registered, so the refusal points at the typo.
  @Test func restrictedScript_typoInTheNameOfAPlugin_isNamedInTheRefusal() async throws {
    struct Printer: Plugin {
      let service = "com.acme.printer"
      var actions: [String: PluginAction] { ["print": { _ in 1 }] }
    }
    let runner = try await ScriptRunner(contacts: 1)
    let host = runner.makeHost {
      $0.isRestricted = true
      $0.allowedServices.insert("com.acme.printr")
    }
    try host.register(Printer())
    let result = try await runner.value(
      of: "local _, err = tureen.await(tureen.service('com.acme.printer').print) return err.message", before: "", on: host)
    #expect(
      result?.stringValue?.hasSuffix("allowed so far: com.acme.printr, test, of which 'com.acme.printr' does not exist") == true)
  }
}
