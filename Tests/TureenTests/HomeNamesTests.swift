import Foundation
import JSON
import LuaBridge
import SmartStore
import Support
import TestSupport
import Testing

@testable import Tureen

/// Tests which names a home offers for completion, and that finding them changes nothing.
@Suite struct HomeNamesTests {
  private let folder: TemporaryFolder
  private var home: String { folder.path + "/home" }
  private var config: String { folder.path + "/project" }

  init() throws {
    folder = try TemporaryFolder()
    try FileSystem.makeDirectory(home)
  }

  /// Creates a plain store with soups and saved syncs.
  private func makeStore(_ path: String, _ name: String = "defaultStore", soups: [String], syncs: [String] = []) throws {
    let registry = StoreRegistry(
      userDirectory: "\(home)/\(path)/stores", globalDirectory: "\(home)/\(path)/stores", key: { nil })
    defer { registry.close() }
    let store = try registry.store(named: name)
    for soup in soups { try store.registerSoup(soup, indexSpecs: [IndexSpec(path: "Id", type: .string)]) }
    guard !syncs.isEmpty else { return }
    try store.registerSoup("syncs_soup", indexSpecs: [IndexSpec(path: "name", type: .json1)])
    let rows = syncs.map { JSONValue.object(["name": .string($0)]) } + [["name": .null]]
    try store.upsert(JSONValue.array(rows).text, into: "syncs_soup")
  }

  private func makeOrg(_ folder: String, user: String?, users: [String]) throws {
    for user in users { try FileSystem.makeDirectory("\(home)/orgs/\(folder)/\(user)") }
    let named = user.map { #","user":"\#($0)""# } ?? ""
    try writeFile(
      #"{"name":"\#(folder)","loginUrl":"https://\#(folder).example"\#(named)}"#, at: "\(home)/orgs/\(folder)/org.json")
  }

  private func names(org: String? = nil, user: String? = nil, config: String? = nil) -> HomeNames {
    HomeNames(home: home, org: org, user: user, configDirectory: config)
  }

  @Test func sandboxOrg_isTheDefault() throws {
    try makeStore("orgs/sandbox/sandbox-user", soups: ["people", "notes"], syncs: ["down", "up"])
    try makeStore("orgs/sandbox/sandbox-user", "mine", soups: ["own"])
    try makeStore("global", soups: ["shared"])
    let found = names()
    #expect(found.soups(in: StoreReference()) == ["notes", "people"])
    #expect(found.syncs(in: StoreReference()) == ["down", "up"])
    #expect(found.soups(in: StoreReference(name: "mine")) == ["own"])
    #expect(found.soups(in: StoreReference(isGlobal: true)) == ["shared"])
    #expect(found.soups(in: StoreReference(name: "missing")) == [])
    #expect(found.stores(isGlobal: false) == ["defaultStore", "mine"] && found.stores(isGlobal: true) == ["defaultStore"])
    #expect(found.orgs() == [] && found.users() == [])
  }

  @Test func namedOrg_hasTheStoresOfItsUser() throws {
    try makeOrg("acme", user: "ann", users: ["ann", "bob"])
    try makeOrg("zeta", user: nil, users: [])
    try makeStore("orgs/acme/ann", soups: ["annsSoup"])
    try makeStore("orgs/acme/bob", soups: ["bobsSoup"])
    #expect(names().orgs() == ["acme", "zeta"])
    #expect(names(org: "acme").users() == ["ann", "bob"] && names(org: "nowhere").users() == [])
    #expect(names(org: "acme").soups(in: StoreReference()) == ["annsSoup"])
    #expect(names(org: "https://acme.example", user: "bob").soups(in: StoreReference()) == ["bobsSoup"])
    #expect(names(org: "zeta").soups(in: StoreReference()) == [])
    try writeFile(#"{"default":"acme"}"#, at: home + "/orgs.json")
    #expect(names().soups(in: StoreReference()) == ["annsSoup"])
  }

  @Test func configurationFiles_addNamesOfTheDefaultStores() throws {
    try makeStore("orgs/sandbox/sandbox-user", soups: ["people"], syncs: ["down"])
    try writeFile(
      #"{"soups":[{"soupName":"contacts","indexes":[{"path":"Id","type":"string"}]}]}"#, at: config + "/userstore.json")
    let sync =
      #"{"syncName":"contactsDown","syncType":"syncDown","soupName":"contacts","#
      + #""target":{"type":"soql","query":"SELECT Id FROM Contact"},"options":{"mergeMode":"OVERWRITE"}}"#
    try writeFile(#"{"syncs":[\#(sync)]}"#, at: config + "/usersyncs.json")
    let found = names(config: config)
    #expect(found.soups(in: StoreReference()) == ["contacts", "people"])
    #expect(found.syncs(in: StoreReference()) == ["contactsDown", "down"])
    #expect(found.soups(in: StoreReference(name: "other")) == [] && found.syncs(in: StoreReference(isGlobal: true)) == [])
    // The home that the project names.
    try writeFile(#"{"home":"\#(home)"}"#, at: config + "/bootconfig.json")
    #expect(HomeNames(configDirectory: config).soups(in: StoreReference()) == ["contacts", "people"])
    // Files that a command would refuse leave the names of the store.
    try writeFile("{", at: config + "/userstore.json")
    #expect(names(config: config).soups(in: StoreReference()) == ["people"])
  }

  @Test func nothingIsChanged() throws {
    try makeOrg("acme", user: "ann", users: ["ann"])
    try makeStore("orgs/acme/ann", soups: ["s"], syncs: ["down"])
    try makeStore("orgs/sandbox/sandbox-user", soups: ["s"])
    func files() -> [String] { (FileManager.default.enumerator(atPath: home)?.compactMap { $0 as? String } ?? []).sorted() }
    let before = files()
    for org in [nil, "acme", "sandbox", "nowhere", "sf:alias"] {
      let found = names(org: org)
      _ = (found.orgs(), found.users(), found.stores(isGlobal: false), found.stores(isGlobal: true))
      _ = (found.soups(in: StoreReference()), found.syncs(in: StoreReference(name: "new", isGlobal: true)))
    }
    #expect(files() == before)
    let missing = HomeNames(home: folder.path + "/missing")
    #expect(missing.orgs() == [] && missing.soups(in: StoreReference()) == [])
    #expect(!FileSystem.exists(folder.path + "/missing"))
  }

  /// A home that others can write to is refused by every command.
  @Test func homeOfOthers_hasNoNames() throws {
    try makeStore("orgs/sandbox/sandbox-user", soups: ["s"])
    try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: home)
    #expect(names().soups(in: StoreReference()) == [] && names().stores(isGlobal: false) == [])
  }

  /// To read the orgs would finish the change, which needs the lock of the home.
  @Test func unfinishedChangeOfTheOrgs_isLeftAlone() throws {
    try makeOrg("acme", user: "ann", users: ["ann"])
    var change = HomeChange()
    change.write(["name": "new"], to: "orgs/acme/org.json")
    #expect(throws: (any Error).self) {
      try HomeLock(home: home, fault: { step in if HomeLock.isUnfinished(home) { throw CancellationError() } }).commit(change)
    }
    #expect(HomeLock.isUnfinished(home))
    #expect(names().orgs() == [])
    #expect(HomeLock.isUnfinished(home))
  }
}
