import Glibc
import JSON
import SmartStore
import Support
import TestSupport
import Testing

@testable import Tureen

/// Tests the sources of the stores' key and their errors.
@Suite struct StoreKeySourceTests {
  private func text(_ source: StoreKeySource) throws -> String {
    try source.secret().withBytes { String(decoding: $0, as: UTF8.self) }
  }

  private func problem(_ source: StoreKeySource) -> String? {
    do {
      _ = try source.secret()
      return nil
    } catch {
      return (error as? HostError)?.message
    }
  }

  @Test(arguments: [
    ("abc\n", "abc"), ("abc", "abc"), ("abc\n\n", "abc\n"), ("\nabc", "\nabc"), (" a b \r\n", " a b \r"), ("x'00'", "x'00'"),
  ]) func file_losesOneLineBreak(_ contents: String, _ key: String) throws {
    let folder = try TemporaryFolder(), path = folder.path + "/key"
    try FileSystem.write(Array(contents.utf8), to: path)
    #expect(try text(.file(path)) == key)
  }

  @Test func variable_isTakenExactly() throws {
    let path = try #require(getenv("PATH").map { String(cString: $0) })
    #expect(try text(.variable("PATH")) == path)
    // As a variable of any process would be: those of this one are read by other tests' threads.
    let value = " a'\"$HOME\n", secret = try value.withCString { try SecretReader.variable($0) }
    #expect(secret.withBytes { String(decoding: $0, as: UTF8.self) } == value)
  }

  @Test(arguments: [
    (["printf", "abc\\n"], "abc"), (["printf", "abc\\n\\n"], "abc\n"),
    (["printf", "%s", "$HOME;`id` * 'x' \"y\" > /tmp/z"], "$HOME;`id` * 'x' \"y\" > /tmp/z"),
    (["sh", "-c", "printf a; sleep 0.01; printf b"], "ab"), (["/bin/sh", "-c", "cat; printf end"], "end"),
  ]) func command_isRunWithoutAShell(_ words: [String], _ key: String) throws { #expect(try text(.command(words)) == key) }

  @Test(
    arguments: [
      (.file("/nowhere/key"), "the key file /nowhere/key: cannot be read: No such file or directory"),
      (.file("/tmp"), "the key file /tmp: cannot be read: Is a directory"), (.file("/dev/null"), "it is empty"),
      (.file("/dev/zero"), "longer than 1024 bytes"),
      (.variable("TUREEN_TEST_NOT_SET"), "the variable TUREEN_TEST_NOT_SET with the stores' key: it is not set"),
      (.command(["/nowhere/pass"]), "the command /nowhere/pass for the stores' key: cannot be run: No such file or directory"),
      (.command(["sh", "-c", "echo hunter2; exit 3"]), "the command sh for the stores' key: it ended with status 3"),
      (.command(["sh", "-c", "echo hunter2; kill -9 $$"]), "signal 9 ended it"), (.command(["true"]), "it is empty"),
      (.command(["yes", "hunter2"]), "longer than 1024 bytes"), (.command(["printf", "\\n"]), "it is empty"),
    ] as [(StoreKeySource, String)]) func secret_thatCannotBeHad_saysWhyAndNothingOfIt(
      _ source: StoreKeySource, _ expected: String
    )
  {
    let message = problem(source)
    #expect(message?.contains(expected) == true, "\(message ?? "no error")")
    #expect(message?.contains("hunter2") == false)
  }

  @Test func command_thatDoesNotEnd_isKilled() throws {
    for words in [["sleep", "300"], ["sh", "-c", "exec 1>&-; exec sleep 300"]] {
      do {
        _ = try SecretReader.command(words, timeoutMs: 100)
        Issue.record("\(words) gave a key")
      } catch { #expect(error.what == "it took too long") }
    }
  }

  @Test(
    arguments: [
      ("pass show  tureen", ["pass", "show", "tureen"]), (#"["pass", "show two words", ""]"#, ["pass", "show two words", ""]),
      ("", nil), ("  ", nil), ("[]", nil), (#"["a", 1]"#, nil), ("[", nil), (#"[""]"#, nil), ("a 'b c'", ["a", "'b", "c'"]),
    ] as [(String, [String]?)]) func commandLine_isWordsOrAnArray(_ line: String, _ words: [String]?)
  {
    #expect(StoreKeySource(commandLine: line) == words.map { .command($0) })
  }

  @Test(
    arguments: [
      (["storeKeyFile": "/k"], .file("/k")), (["storeKeyVariable": "K"], .variable("K")),
      (["storeKeyCommand": ["pass", "show"]], .command(["pass", "show"])),
      (["storeKeyCommand": "pass show"], .command(["pass", "show"])),
      (["home": "/h"], nil),
    ] as [(JSONObject, StoreKeySource?)]) func settings_nameTheSource(_ options: JSONObject, _ source: StoreKeySource?) throws
  {
    var settings = HostSettings()
    try settings.take(options) { HostError(.invalidConfiguration, "'\($0)' \($1)") }
    #expect(settings.storeKey == source)
  }

  @Test(
    arguments: [
      (["storeKeyFile": ""], "'storeKeyFile' must be the name of a file"), (["storeKeyFile": 1], "'storeKeyFile' must be"),
      (["storeKeyVariable": "A=B"], "'storeKeyVariable' must be the name of an environment variable"),
      (["storeKeyCommand": []], "'storeKeyCommand' must be a program"),
      (["storeKeyCommand": ["a", 1]], "'storeKeyCommand' must be"),
      (
        ["storeKeyFile": "/k", "storeKeyVariable": "K"], "'storeKeyVariable' cannot be combined with 'storeKeyFile': give one key"
      ),
      (["storeKey": "hunter2"], "'storeKey' is not known here"),
    ] as [(JSONObject, String)]) func settings_thatAreWrong_sayWhy(_ options: JSONObject, _ expected: String)
  {
    var settings = HostSettings()
    let error = #expect(throws: HostError.self) {
      try settings.take(options) { HostError(.invalidConfiguration, "'\($0)' \($1)") }
    }
    #expect(error?.message.hasPrefix(expected) == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("hunter2") == false)
  }
}

/// Tests keys of stores from scripts.
@Suite struct StoreKeyTests {
  private func run(_ runner: ScriptRunner, _ configure: String) async throws {
    try await runner.run(
      """
      tureen.configure(\(configure))
      smartstore.registerSoup({ isGlobalStore = true, storeName = "notes" }, "s", SPECS, function(name)
        note("made", name)
      end, function(err)
        note("error", err.domain .. "/" .. err.code)
        note("message", err.message)
        note("retryable", err.retryable)
      end)
      """)
  }

  @Test(.enabled(if: !StoreKey.isSupported, "needs a build without the trait Encryption"))
  func key_inABuildWithoutEncryption_isAnErrorAndNothingIsStored() async throws {
    let runner = try await ScriptRunner(contacts: 0)
    try FileSystem.write(Array("hunter2".utf8), to: runner.folder.path + "/key")
    try await run(runner, "{ storeKeyFile = '\(runner.folder.path)/key' }")
    #expect(runner.noted("error") == ["smartstore/encryptionUnavailable"])
    #expect(!FileSystem.exists(runner.home + "/global"))
    await runner.server.stop()
  }

  @Test(.enabled(if: StoreKey.isSupported, "needs the trait Encryption"))
  func stores_ofAHostWithAKey_areAllEncryptedAndAnotherKeyIsRefused() async throws {
    let runner = try await ScriptRunner(), file = runner.folder.path + "/key"
    try FileSystem.write(Array("hunter2\n".utf8), to: file)
    for name in ["userstore", "globalstore"] {
      let soups = #"{"soups": [{"soupName": "configured", "indexes": [{"path": "Id", "type": "string"}]}]}"#
      try FileSystem.write(Array(soups.utf8), to: "\(runner.configDirectory)/\(name).json")
    }
    let outcome = try await runner.run(
      """
      tureen.configure { storeKeyFile = "\(file)" }
      local NAMED = { isGlobalStore = false, storeName = "named" }
      for _, store in ipairs { false, true, NAMED } do smartstore.registerSoup(store, "contacts", SPECS) end
      tureen.keyvalue.put("settings", "favourite", "Zwiebelkuchen")
      mobilesync.syncDown(CONTACTS, "contacts", OVERWRITE, function(sync)
        if sync.status == "DONE" then note("synced", sync.totalSize) end
      end)
      """)
    #expect(outcome == .done)
    #expect(runner.noted("synced") == [30])
    let files = try HomeStores(home: runner.home).files()
    #expect(files.count == 3)
    for file in files { #expect(FileSystem.read(file)?.starts(with: Array("SQLite format 3".utf8)) == false, "\(file)") }
    try FileSystem.write(Array("hunter3".utf8), to: file)
    try await run(runner, "{ storeKeyFile = '\(file)', recover = 'moveAside' }")
    #expect(runner.noted("error") == [], "another store may have another key")
    let name = "smartstore.soupExists({ isGlobalStore = true }, 'contacts', function() note('opened', true) end, "
    try await runner.run(
      """
      tureen.configure { storeKeyFile = "\(file)", recover = "moveAside" }
      \(name)function(err)
        note("error", err.domain .. "/" .. err.code)
        note("message", err.message)
      end)
      """)
    #expect(runner.noted("opened") == [])
    #expect(runner.noted("error") == ["smartstore/wrongKey"])
    #expect(runner.noted("message").first?.stringValue?.contains("hunter") == false)
    #expect(
      try files.allSatisfy { file in
        try FileSystem.entries(of: String(file.dropLast("/store.sqlite".count))).allSatisfy { !$0.contains("damaged") }
      })
    await runner.server.stop()
  }
}
