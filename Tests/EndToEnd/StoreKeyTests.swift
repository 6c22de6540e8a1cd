import Foundation
import Glibc
import JSON
import TestSupport
import Testing

/// Tests the keys of stores with the built command.
@Suite struct StoreKeyTests {
  private func run(_ place: Workplace, _ arguments: [String], _ environment: [String: String] = [:]) async throws -> Child.Ended {
    try await Child(Built.tureen, arguments, environment: environment, in: place.path).ended()
  }

  /// Returns the arguments of a script that stores an entry, and of one that reads it.
  private func scripts(_ place: Workplace) throws -> (write: [String], read: [String]) {
    let write = try place.write(
      """
      local smartstore = require "tureen".smartstore
      smartstore.registerSoup(true, "s", { { path = "a", type = "string" } })
      smartstore.upsertSoupEntries(true, "s", { { a = "Zwiebelkuchen" } })
      """, to: "write.lua")
    let read = try place.write(
      """
      require "tureen".smartstore.soupExists(true, "s", print, function(err) print(err.code) end)
      """, to: "read.lua")
    return (["run", "--home", place.home, write], ["run", "--home", place.home, read])
  }

  @Test(.enabled(if: !TestKey.isSupported, "needs a build without the trait Encryption"))
  func run_withAKeyInABuildWithoutEncryption_is78AndStoresNothing() async throws {
    let place = try Workplace(), write = try scripts(place).write
    let ended = try await run(place, write, ["TUREEN_STORE_KEY": "hunter2"])
    #expect(ended.status == 78)
    #expect(ended.errors.contains("--traits Encryption"))
    #expect(!ended.errors.contains("hunter2"))
    #expect(place.stores == [])
    let rekey = try await run(place, ["store", "rekey", "--home", place.home, "--to-plain"])
    #expect(rekey.status == 78)
    #expect(rekey.errors.contains("--traits Encryption"))
  }

  @Test func run_withTwoKeys_is78AndNamesThem() async throws {
    let place = try Workplace(), write = try scripts(place).write
    let ended = try await run(place, write, ["TUREEN_STORE_KEY": "hunter2", "TUREEN_STORE_KEY_FILE": "key"])
    #expect(ended.status == 78)
    #expect(ended.errors.contains("TUREEN_STORE_KEY and TUREEN_STORE_KEY_FILE are set"))
    #expect(!ended.errors.contains("hunter2"))
  }

  @Test(arguments: [[], ["--to-plain", "--to-file", "key"], ["--to-command", "[]"]])
  func rekey_wrongUsage_is64(_ arguments: [String]) async throws {
    #expect(try await run(try Workplace(), ["store", "rekey"] + arguments).status == 64)
  }

  @Test(.enabled(if: TestKey.isSupported, "needs the trait Encryption"))
  func rekey_encryptsChangesAndDecrypts() async throws {
    let place = try Workplace(), (write, read) = try scripts(place)
    #expect(chmod(try place.write("first\n", to: "key"), 0o600) == 0)
    let rekey = ["store", "rekey", "--home", place.home], second = ["TUREEN_STORE_KEY_COMMAND": "echo second"]
    #expect(try await run(place, write).status == 0)
    let store = try #require(place.stores.first)
    #expect(try await run(place, rekey + ["--to-file", "key"]).output == "\(store): encrypted with the new key\n")
    #expect(try await run(place, read).output == "keyRequired\n")
    #expect(try await run(place, read, ["TUREEN_STORE_KEY_FILE": "key"]).output == "true\n")
    let refused = try await run(place, rekey + ["--to-command", "echo second"], ["TUREEN_STORE_KEY": "third"])
    #expect(refused.status == 1)
    #expect(refused.errors.contains(store))
    let changed = try await run(place, rekey + ["--to-command", "echo second"], ["TUREEN_STORE_KEY": "first"])
    #expect(changed.status == 0)
    #expect(try await run(place, read, ["TUREEN_STORE_KEY": "first"]).output == "wrongKey\n")
    #expect(try await run(place, read, second).output == "true\n")
    #expect(try await run(place, rekey + ["--to-plain"], second).output == "\(store): decrypted\n")
    #expect(try await run(place, rekey + ["--to-plain"], second).output == "\(store): nothing to do\n")
    #expect(try await run(place, read, second).output == "notEncrypted\n")
    #expect(try await run(place, read).output == "true\n")
  }
}
