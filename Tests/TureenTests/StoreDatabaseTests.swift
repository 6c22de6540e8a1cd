import JSON
import SmartStore
import Testing

@testable import Tureen

/// The settings of a database for the stores. No message may contain the password.
@Suite struct StoreDatabaseTests {
  private func settings(_ options: JSONObject) throws -> HostSettings {
    var settings = HostSettings()
    try settings.take(options) { HostError(.invalidConfiguration, "'\($0)' \($1)") }
    return settings
  }

  @Test func settings_database_isReadWithoutItsPassword() throws {
    let settings = try settings(["store": "postgres://ada:hunter2@db.example.com/app", "storePasswordVariable": "PW"])
    #expect(settings.store?.description == "postgres://ada@db.example.com:5432/app")
    #expect(settings.storePassword == .variable("PW"))
    #expect(!"\(settings)".contains("hunter2"))
    var dumped = ""
    dump(settings, to: &dumped)
    #expect(!dumped.contains("hunter2"))
  }

  @Test(
    arguments: [
      (["store": "mysql://hunter2@db/app"], "'store' cannot be used: the database's address must begin with postgres://"),
      (["store": "postgres://ada:hunter2@db:x/app"], "'store' cannot be used: the database's address has a port"),
      (["store": 1], "'store' must be a string"),
      (["storePasswordFile": ""], "'storePasswordFile' must be the name of a file"),
      (["storePasswordCommand": []], "'storePasswordCommand' must be a program"),
      (
        ["storePasswordFile": "/p", "storePasswordVariable": "P"],
        "'storePasswordVariable' cannot be combined with 'storePasswordFile': give one password"
      ),
      (["storePassword": "hunter2"], "'storePassword' is not known here"),
    ] as [(JSONObject, String)]) func settings_thatAreWrong_sayWhy(_ options: JSONObject, _ expected: String)
  {
    let error = #expect(throws: HostError.self) { try settings(options) }
    #expect(error?.message.hasPrefix(expected) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("hunter2") == false)
  }

  @Test func settings_filledFromOthers_keepTheirOwn() throws {
    var mine = try settings(["store": "postgres://a/one"])
    mine.fill(from: try settings(["store": "postgres://b/two", "storePasswordFile": "/p"]))
    #expect(mine.store?.description == "postgres://a:5432/one")
    #expect(mine.storePassword == .file("/p"))
  }

  @Test func settings_keyAndDatabase_areRefusedTogether() throws {
    var both = try settings(["store": "postgres://a/one"])
    both.storeKey = .file("/k")
    #expect(throws: (any Error).self) { try both.checkStores() }
    both.storeKey = nil
    try both.checkStores()
  }

  @Test func scriptFolder_namingADatabase_reachesOutside() {
    #expect(HostSettings.reachesOutside("store", "postgres://a/one"))
    #expect(HostSettings.reachesOutside("storePasswordCommand", "pass show db"))
  }

  @Test func password_ofACommandThatFails_isNotQuoted() {
    let source = StoreKeySource.command(["sh", "-c", "echo hunter2; exit 3"])
    let error = #expect(throws: HostError.self) { try source.password() }
    #expect(error?.message.hasPrefix("the command sh for the database's password: ") == true)
    #expect(error?.message.contains("hunter2") == false)
  }
}
