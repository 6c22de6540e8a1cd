import Foundation
import Glibc
import JSON
import Testing

/// Tests `tureen orgs`, `whoami`, `logout` and `--user`, and the exit statuses of sign-ins.
@Suite(.timeLimit(.minutes(60))) struct OrgCommandTests {
  private let place: Workplace

  init() throws { place = try Workplace() }

  private func tureen(_ arguments: String..., environment: [String: String] = [:]) async throws -> Child.Ended {
    try await place.run(Built.tureen, arguments + ["--home", place.home], environment: environment)
  }

  /// Adds the sandbox to the home under a name, by writing the credentials file as a person would.
  private func know(_ sandbox: Sandbox, as name: String) throws {
    let folder = place.home + "/orgs/\(name)"
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    chmod(place.home, 0o700)
    let file = try place.write(
      JSONValue.object([
        "loginUrl": .string(sandbox.url), "clientId": .string(sandbox.clientId), "clientSecret": .string(sandbox.clientSecret),
        "username": .string(sandbox.username), "password": .string(sandbox.password),
      ]).text, to: "home/orgs/\(name)/credentials.json")
    chmod(file, 0o600)
  }

  private func objects(_ text: String) throws -> [JSONValue] {
    try text.split(separator: "\n").map { try JSONValue(parsing: Array($0.utf8)) }
  }

  private static let ask = ["network", "pgSendRequest", #"{"path":"/services/data/v66.0/limits"}"#]

  // MARK: Accounts

  @Test func account_signedInAndOut_isToldByEachCommand() async throws {
    let sandbox = try await Sandbox(place)
    try know(sandbox, as: "acme")
    let before = try await tureen("orgs")
    #expect(before.status == 0 && before.output.contains("acme  -") && before.output.contains("not asked"), "\(before)")
    let none = try await tureen("whoami", "--org", "acme")
    #expect(none.status == 67 && none.errors.contains("tureen login --org acme"), "\(none)")
    #expect(try await tureen("exec", "--org", "acme", Self.ask[0], Self.ask[1], Self.ask[2]).status == 0)

    let who = try await tureen("whoami", "--org", "acme", "--json"), found = try #require(try objects(who.output).first)
    #expect(who.status == 0 && found["username"] == .string(sandbox.username) && found["org"] == "acme", "\(who)")
    #expect(found["instanceUrl"] == .string(sandbox.url) && found["flow"] == "password")
    let shown = try await tureen("whoami", "--org", "acme")
    #expect(
      shown.output.contains("user       \(sandbox.username)") && shown.output.contains("instance   \(sandbox.url)"), "\(shown)")

    #expect(try await tureen("orgs", "default", "acme").output == "'acme' is the default now\n")
    let listed = try objects(try await tureen("orgs", "--json").output)
    #expect(listed.count == 1 && listed[0]["state"] == "signed in" && listed[0]["isDefault"] == true, "\(listed)")
    let checked = try await tureen("orgs", "--check")
    #expect(checked.status == 0 && checked.output.split(separator: "\n").last?.hasPrefix("* acme  \(sandbox.username)") == true)

    let out = try await tureen("logout", "--user", sandbox.username, "--json")
    #expect(try out.status == 0 && objects(out.output).first?["revoked"] == true, "\(out)")
    let again = try await tureen("logout", "--user", sandbox.username)
    #expect(again.status == 67 && again.errors.contains("no session was kept"), "\(again)")
  }

  @Test func org_named_isFoundByNameAndAddressAndRemoved() async throws {
    let sandbox = try await Sandbox(place)
    try know(sandbox, as: "acme")
    #expect(try await tureen("exec", "--org", "acme", Self.ask[0], Self.ask[1], Self.ask[2]).status == 0)
    #expect(try await tureen("orgs", "name", "live", "acme").output == "'acme' is 'live' now\n")
    for name in ["live", sandbox.url] {
      #expect(try await tureen("exec", "--org", name, "smartstore", "getAllStores").status == 0, "\(name)")
    }
    #expect(!FileManager.default.fileExists(atPath: place.home + "/orgs/live"))
    let gone = try await tureen("exec", "--org", "acme", "smartstore", "getAllStores")
    #expect(gone.status == 67 && gone.errors.contains("no org is known as 'acme'"), "\(gone)")
    let unasked = try await tureen("orgs", "remove", "live")
    #expect(unasked.status == 64 && unasked.errors.contains("give --yes"), "\(unasked)")
    #expect(try await tureen("orgs", "remove", "live", "--yes").output == "'live' is removed\n")
    #expect(!FileManager.default.fileExists(atPath: place.home + "/orgs/acme"))
    #expect(try await tureen("orgs").errors.contains("no org is known in this home"))
  }

  @Test func name_thatTheRulesRefuse_is64() async throws {
    for folder in ["acme", "other"] {
      try FileManager.default.createDirectory(
        atPath: place.home + "/orgs/" + folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }
    chmod(place.home, 0o700)
    for (name, part) in [
      ("my org", "1 to 64 letters"), ("sandbox", "it means the sandbox org"), ("sf", "it means the orgs of the sf CLI"),
      ("Other", "differs from the org 'other' only in case"), ("other", "an org named 'other' already exists"),
    ] {
      let ended = try await tureen("orgs", "name", name, "acme")
      #expect(ended.status == 64 && ended.errors.contains(part), "\(name): \(ended)")
    }
    let unknown = try await tureen("orgs", "default", "othr")
    #expect(unknown.status == 67 && unknown.errors.contains("did you mean 'other'?"), "\(unknown)")
  }

  @Test func commands_wrongFile_is78() async throws {
    try FileManager.default.createDirectory(
      atPath: place.home + "/orgs/acme", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    chmod(place.home, 0o700)
    try place.write("{\"nmae\": 1,\n\"name\": 2}", to: "home/orgs/acme/org.json")
    let ended = try await tureen("orgs")
    #expect(ended.status == 78 && ended.errors.contains("org.json:2: 'name' must be a string"), "\(ended)")
  }

  // MARK: Stores in use, other orgs

  @Test func logout_storesThatAreOpen_is75AndChangesNothing() async throws {
    let sandbox = try await Sandbox(place)
    try know(sandbox, as: "acme")
    let script = try place.write(
      """
      local tureen = require "tureen"
      tureen.main(function()
        assert(tureen.await(tureen.oauth.authenticate))
        assert(tureen.await(tureen.smartstore.registerSoup, "s", { { path = "Id", type = "string" } }))
        print "open"
        io.read()
      end)
      """, to: "script.lua")
    let child = try Child(
      Built.tureen, ["run", "--home", place.home, "--org", "acme", script], in: place.path, terminal: Terminal(columns: 200))
    #expect(await child.prints("open"))
    for words in [["logout", "--org", "acme", "--delete-stores", "--yes"], ["orgs", "remove", "acme", "--yes"]] {
      let busy = try await place.run(Built.tureen, words + ["--home", place.home])
      #expect(busy.status == 75 && busy.errors.contains("Nothing was changed"), "\(words): \(busy)")
    }
    #expect(try objects(try await tureen("orgs", "--json").output).first?["state"] == "signed in")
    child.type("\n")
    #expect(await child.ended().status == 0)
    let out = try await tureen("logout", "--org", "acme", "--delete-stores", "--yes", "--json")
    #expect(try out.status == 0 && objects(out.output).first?["deletedStores"] == 1, "\(out)")
    #expect(place.stores.isEmpty)
  }

  /// Returns the files in the home with their contents, except for locks and temporary database files.
  private func kept(_ folder: String) throws -> [String: Data] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: place.home + "/" + folder)
    return names.reduce(into: [:]) { found, name in
      guard !name.hasSuffix(".lock"), !name.contains("/stores/") else { return }
      found[name] = FileManager.default.contents(atPath: "\(place.home)/\(folder)/\(name)")
    }
  }

  @Test func refreshedSandbox_isOtherOrgUntilNewOrgKeepsTheOldFolderAside() async throws {
    let sandbox = try await Sandbox(place)
    let options = [
      "login", "--home", place.home, "--org", "qa", "--url", sandbox.url, "--client-id", sandbox.clientId,
      "--user", sandbox.username, "--secret-variable", "S", "--password-variable", "P",
    ]
    let secrets = ["S": sandbox.clientSecret, "P": sandbox.password]
    let first = try await place.run(Built.tureen, options, environment: secrets)
    #expect(first.status == 0, "\(first)")
    let register = ["smartstore", "registerSoup", #"{"soupName":"s","indexes":[{"path":"Id","type":"string"}]}"#]
    #expect(try await place.run(Built.tureen, ["exec", "--home", place.home] + register, environment: secrets).status == 0)

    try await sandbox.control("refreshOrg", in: place)
    let before = try kept("orgs")
    let asked = try await place.run(Built.tureen, ["exec", "--home", place.home, "--json"] + Self.ask, environment: secrets)
    #expect(asked.status == 67 && asked.errors.contains(#""otherOrg""#), "\(asked)")
    let again = try await place.run(Built.tureen, options, environment: secrets)
    #expect(again.status == 67 && again.errors.contains("tureen login --new-org"), "\(again)")
    #expect(try kept("orgs") == before)

    let renewed = try await place.run(Built.tureen, options + ["--new-org"], environment: secrets)
    #expect(renewed.status == 0, "\(renewed)")
    let ids = try [before["qa/org.json"], kept("orgs")["qa/org.json"], kept("orgs")["qa.before-1/org.json"]].map {
      try JSONValue(parsing: Array(try #require($0)))["orgId"]?.stringValue
    }
    #expect(ids[0] == ids[2] && ids[0] != ids[1] && ids[1] != nil)
    #expect(place.stores.map { $0.dropFirst(place.home.count + 6).prefix(11) } == ["qa.before-1"], "\(place.stores)")
    let exists = try await place.run(
      Built.tureen, ["exec", "--home", place.home, "smartstore", "soupExists", #"{"soupName":"s"}"#], environment: secrets)
    #expect(exists.status == 0 && exists.output == "false\n", "\(exists)")
    #expect(try await place.run(Built.tureen, ["exec", "--home", place.home] + Self.ask, environment: secrets).status == 0)
  }

  // MARK: Exit statuses

  @Test func exec_orgOrUserThatIsNotKnown_is67() async throws {
    #expect(try await tureen("exec", "--org", "acme", "smartstore", "getAllStores").status == 67)
    #expect(try await tureen("exec", "--org", "acme", "--json", "smartstore", "getAllStores").errors.contains(#""noSuchOrg""#))
    try FileManager.default.createDirectory(
      atPath: place.home + "/orgs/acme/ann", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let ended = try await tureen("exec", "--org", "acme", "--user", "bob", "smartstore", "getAllStores")
    #expect(ended.status == 67 && ended.errors.contains("known: ann"), "\(ended)")
  }

  @Test(arguments: [
    ("tureen.main(function() assert(tureen.await(tureen.smartstore.getAllStores)) end)", 67),
    ("tureen.main(function() return tureen.await(tureen.smartstore.getAllStores) end)", 67),
    ("tureen.async(function() assert(tureen.await(tureen.smartstore.getAllStores)) end)", 67),
    ("tureen.smartstore.getAllStores()", 67),
    ("tureen.main(function() assert(not tureen.await(tureen.smartstore.getAllStores)) end)", 0),
    ("tureen.main(function() tureen.await(tureen.smartstore.getAllStores) error 'another one' end)", 1),
    ("tureen.main(function() return 3 end)", 3),
  ])
  func run_endedByAnErrorOfTheSignIn_is67(script: String, status: Int32) async throws {
    let file = try place.write("local tureen = require 'tureen'\n" + script, to: "script.lua")
    let ended = try await place.runScript(file, options: ["--org", "acme"])
    #expect(ended.status == status, "\(ended)")
  }

  @Test func run_sandboxOnly_endsWith67ForAnotherOrg() async throws {
    let script = try place.write("print 'ran'", to: "script.lua")
    let fine = try await place.runScript(script, options: ["--sandbox-only", "--org", "sandbox"])
    #expect(fine.status == 0 && fine.output == "ran\n", "\(fine)")
    let unknown = try await place.runScript(script, options: ["--sandbox-only", "--org", "acme"])
    #expect(unknown.status == 67 && unknown.output == "", "\(unknown)")
    for (isSandbox, status) in [(true, 0), (false, 67)] as [(Bool, Int32)] {
      try FileManager.default.createDirectory(
        atPath: place.home + "/orgs/acme/ann", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try place.write(#"{"name":"acme","isSandbox":\#(isSandbox),"user":"ann"}"#, to: "home/orgs/acme/org.json")
      let ended = try await place.runScript(script, options: ["--sandbox-only", "--org", "acme"])
      #expect(ended.status == status && ended.output == (status == 0 ? "ran\n" : ""), "\(ended)")
    }
    // A script that chooses the org itself is refused, too.
    let choosing = try place.write(
      """
      local tureen = require 'tureen'
      tureen.configure { org = "acme" }
      tureen.main(function() return tureen.await(tureen.oauth.authenticate) end)
      """, to: "choosing.lua")
    let ended = try await place.runScript(choosing, options: ["--sandbox-only", "--org", "sandbox"])
    #expect(ended.status == 67 && ended.errors.contains("--sandbox-only"), "\(ended)")
  }
}
