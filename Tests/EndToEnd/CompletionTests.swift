import Foundation
import Testing

/// Tests the completion scripts that `tureen --generate-completion-script` prints, in their shells.
@Suite(.timeLimit(.minutes(60))) struct CompletionTests {
  private func script(_ shell: String, _ place: Workplace) async throws {
    let ended = try await place.run(Built.tureen, ["--generate-completion-script", shell])
    #expect(ended.status == 0 && !ended.output.isEmpty, "\(ended)")
    try place.write(ended.output, to: shell == "zsh" ? "_tureen" : "tureen." + shell)
  }

  /// Puts the command under test on the shell's path.
  private static func withCommand(_ shell: String) -> String {
    shell == "fish" ? "set -x PATH '\(Built.folder.path)' $PATH\n" : "PATH='\(Built.folder.path)':$PATH\n"
  }

  private func run(_ shell: String, _ commands: String, _ place: Workplace) async throws -> [String]? {
    guard FileManager.default.fileExists(atPath: "/usr/bin/" + shell) else { return nil }
    try await script(shell, place)
    let commands = Self.withCommand(shell) + commands
    let arguments =
      shell == "fish" ? ["--no-config", "-c", commands] : shell == "zsh" ? ["-f", "-c", commands] : ["-c", commands]
    let ended = try await place.run(
      "/usr/bin/" + shell, arguments,
      environment: ["HOME": place.path, "TERM": "dumb", "TUREEN_HOME": place.home])
    #expect(ended.status == 0 && ended.errors == "", "\(shell): \(ended)")
    return ended.output.split(separator: "\n").map(String.init)
  }

  /// Defines `complete_for`, which prints the completions of the last of its words.
  private static let bash = """
    source ./tureen.bash
    function=$(complete -p tureen | sed 's/.*-F \\([^ ]*\\) .*/\\1/')
    complete_for() {
      COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
      "$function" tureen "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
      printf '%s\\n' "${COMPREPLY[@]}"
    }

    """

  /// Completes commands, then the options of a command.
  @Test func bash_completesCommandsAndOptions() async throws {
    let words = try await run(
      "bash", Self.bash + "complete_for tureen sto\ncomplete_for tureen run --memory", try Workplace())
    let trimmed = try #require(words).map { $0.trimmingCharacters(in: .whitespaces) }
    #expect(trimmed.contains("store") && trimmed.contains("--memory-limit"), "\(trimmed)")
  }

  @Test func fish_completesCommandsAndOptions() async throws {
    guard
      let words = try await run(
        "fish", "source ./tureen.fish; complete -C 'tureen sto'; complete -C 'tureen run --memory'", try Workplace())
    else { return }
    let names = words.map { $0.prefix { $0 != "\t" } }
    #expect(names.contains("store") && names.contains("--memory-limit"), "\(words)")
  }

  /// zsh completes only in a terminal, so this test only loads the function as at a prompt.
  @Test func zsh_loadsTheFunction() async throws {
    guard
      let words = try await run(
        "zsh",
        "fpath=($PWD $fpath); autoload -Uz compinit && compinit -u -d ./dump && autoload +X -Uz _tureen && print -r -- ${_comps[tureen]}",
        try Workplace())
    else { return }
    #expect(words == ["_tureen"])
  }

  // MARK: Names

  /// Creates a store with two soups and two saved syncs for the sandbox's user, and an org without a session.
  private func fill(_ place: Workplace) async throws {
    for soup in ["notes", "people"] {
      let made = try await place.exec(
        "smartstore", "registerSoup", #"{"soupName":"\#(soup)","indexes":[{"path":"Id","type":"string"}]}"#)
      #expect(made.status == 0, "\(made)")
    }
    for name in ["notes:down", "people down"] {
      let target = #"{"type":"soql","query":"SELECT Id FROM Contact"}"#
      let made = try await place.exec(
        "mobilesync", "createSyncDown",
        #"{"target":\#(target),"soupName":"notes","options":{"mergeMode":"OVERWRITE"},"syncName":"\#(name)"}"#)
      #expect(made.status == 0, "\(made)")
    }
    try FileManager.default.createDirectory(atPath: place.home + "/orgs/acme", withIntermediateDirectories: true)
    try place.write(#"{"name":"acme"}"#, to: "home/orgs/acme/org.json")
  }

  private func files(_ place: Workplace) -> [String] {
    (FileManager.default.enumerator(atPath: place.home)?.compactMap { $0 as? String } ?? []).sorted()
  }

  @Test func bash_completesNames() async throws {
    let place = try Workplace()
    try await fill(place)
    let words = try await run(
      "bash",
      Self.bash + """
        complete_for tureen export ''
        complete_for tureen sync pe
        complete_for tureen query --org a
        complete_for tureen run --restricted --allow-service com.salesforce.o
        """, place)
    #expect(words == ["notes", "people", "people down", "acme", "com.salesforce.oauth"])
  }

  /// The functions that fish 3 calls for names work only at a terminal.
  @Test func fish_completesNames() async throws {
    guard FileManager.default.fileExists(atPath: "/usr/bin/fish") else { return }
    let place = try Workplace()
    try await fill(place)
    try await script("fish", place)
    let child = try Child(
      "/usr/bin/fish", ["--no-config"],
      environment: ["HOME": place.path, "TUREEN_HOME": place.home], in: place.path, terminal: Terminal())
    child.type(Self.withCommand("fish") + "source ./tureen.fish\n")
    for words in ["import ", "sync n", "run --org "] { child.type("complete -C 'tureen \(words)' >>names\n") }
    child.type("exit\n")
    let ended = await child.ended()
    let names = (try? String(contentsOfFile: place.path + "/names", encoding: .utf8)) ?? ""
    #expect(
      names.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == ["notes", "people", "notes:down", "acme", "sandbox"],
      "\(ended)")
  }

  /// Calls the command as the completion scripts do: the last word is the one that is being completed.
  private func complete(
    _ argument: String, _ words: [String], _ place: Workplace, environment: [String: String] = [:]
  ) async throws -> Child.Ended {
    try await place.run(
      Built.tureen,
      ["---completion", words[0], "--", argument, "\(words.count)", "\(words.last?.count ?? 0)", "tureen"] + words,
      environment: ["SAP_SHELL": "bash", "HOME": place.path].merging(environment) { $1 })
  }

  @Test func names_followTheOptionsBeforeThem() async throws {
    let place = try Workplace()
    try await fill(place)
    let home = place.home, before = files(place)
    let cases: [(String, [String], String)] = [
      ("positional@0", ["export", "--home", home, ""], "notes people"),
      ("positional@0", ["export", "--home=" + home, ""], "notes people"),
      // bash passes `=` as a word.
      ("positional@0", ["import", "--home", "=", home, ""], "notes people"),
      ("positional@0", ["soups", "--home", "~/home", "notes", ""], "people"),
      ("positional@0", ["soups", "--home", "'\(place.path)'\"/home\"", ""], "notes people"),
      ("positional@0", ["soups", "--home", "\"$PLACE/home\"", ""], ""),
      ("positional@0", ["soups", "--home", home, "--org", "acme", ""], ""),
      ("positional@0", ["soups", "--home", home, "--store-name", "other", ""], ""),
      ("positional@0", ["soups", "--home", home, "--global-store", ""], ""),
      ("positional@0", ["sync", "--home", home, "people down", ""], "notes:down"),
      ("--store-name", ["soups", "--home", home, "--store-name", ""], "defaultStore"),
      ("--org", ["sync", "--home", home, "--org", ""], "acme sandbox"),
      ("--org", ["logout", "--home", home, "--org", ""], "acme"),
      ("--org", ["sync", "--home", place.path + "/missing", "--org", ""], "sandbox"),
    ]
    for (argument, words, wanted) in cases {
      let ended = try await complete(argument, words, place)
      #expect(ended.status == 0 && ended.errors == "", "\(words): \(ended)")
      #expect(ended.output.split(separator: "\n").joined(separator: " ") == wanted, "\(words): \(ended)")
    }
    #expect(files(place) == before)
    #expect(!FileManager.default.fileExists(atPath: place.path + "/missing"))
  }

  /// zsh takes the text behind a colon for a description; the last line is the library's own.
  @Test func names_withAColon_areEscapedForZsh() async throws {
    let place = try Workplace()
    try await fill(place)
    let ended = try await complete("positional@0", ["sync", "--home", place.home, ""], place, environment: ["SAP_SHELL": "zsh"])
    #expect(ended.output == "notes\\:down\npeople down\n \n", "\(ended)")
  }

  /// The names in a project's files are offered before the first sync has made a store.
  @Test func names_ofTheProject_areOfferedInItsFolder() async throws {
    let place = try Workplace()
    let sync = #"{"syncName":"down","syncType":"syncDown","soupName":"s","target":{"type":"soql","query":"SELECT Id FROM Case"}}"#
    try place.write(#"{"syncs":[\#(sync)]}"#, to: "usersyncs.json")
    let ended = try await complete("positional@0", ["sync", "--home", place.home, ""], place)
    #expect(ended.output == "down\n" && ended.errors == "", "\(ended)")
    #expect(files(place) == [])
  }

  @Test func errors_areSilent() async throws {
    let place = try Workplace()
    try FileManager.default.createDirectory(
      atPath: place.home + "/orgs/sandbox/sandbox-user/stores/defaultStore", withIntermediateDirectories: true)
    try place.write(String(repeating: "A", count: 5000), to: "home/orgs/sandbox/sandbox-user/stores/defaultStore/store.sqlite")
    try FileManager.default.createDirectory(atPath: place.home + "/orgs/acme", withIntermediateDirectories: true)
    try place.write("{", to: "home/orgs/acme/org.json")
    try place.write("{", to: "usersyncs.json")
    for (argument, words) in [
      ("positional@0", ["sync", ""]), ("positional@0", ["export", ""]), ("--user", ["sync", "--user", ""]),
    ] {
      let ended = try await complete(
        argument, words, place, environment: ["TUREEN_HOME": place.home, "TUREEN_LOG": "loud", "TUREEN_LOG_REQUESTS": "loud"])
      #expect(ended.status == 0 && ended.errors == "" && ended.output.split(separator: "\n") == [], "\(words): \(ended)")
    }
    // A completion script of another version.
    let stale = try await complete("--no-such-option", ["sync", ""], place)
    #expect(stale.errors == "" && stale.output.split(separator: "\n") == [], "\(stale)")
  }

  @Test func exec_completesServicesAndActions() async throws {
    let place = try Workplace()
    let words = try await run("bash", Self.bash + "complete_for tureen exec key\ncomplete_for tureen exec keyvalue kvC", place)
    #expect(words?.sorted() == ["keyvalue", "kvClear", "kvContains", "kvCount"].sorted())
  }
}
