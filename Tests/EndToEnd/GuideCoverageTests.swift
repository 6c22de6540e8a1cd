import Foundation
import JSON
import Testing

/// The guide names every command, option, setting, target key, exit status and error code, and none that does not exist.
@Suite(.timeLimit(.minutes(60))) struct GuideCoverageTests {
  private func page(_ name: String) throws -> MarkdownPage { try MarkdownPage(MarkdownPage.folder + "/" + name + ".md") }

  private func same(_ there: Set<String>, _ named: Set<String>, _ what: String, _ page: String) {
    #expect(there.subtracting(named).isEmpty, "\(page) does not name this \(what)")
    #expect(named.subtracting(there).isEmpty, "\(page) names this \(what), which does not exist")
  }

  private func matches(_ pattern: Regex<(Substring, Substring)>, in text: String) -> Set<String> {
    Set(text.matches(of: pattern).map { String($0.output.1) })
  }

  // MARK: Commands and options

  /// The commands, as `cache list`, with their options.
  private func commands() async throws -> [String: Set<String>] {
    let ended = try await Workplace().run(Built.tureen, ["--experimental-dump-help"])
    var found: [String: Set<String>] = [:]
    func take(_ command: JSONValue, _ path: [String]) {
      let options = (command["arguments"]?.arrayValue ?? []).flatMap { $0["names"]?.arrayValue ?? [] }
        .filter { $0["kind"] == "long" }.compactMap { $0["name"]?.stringValue }
      found[path.joined(separator: " ")] = Set(options)
      for inner in command["subcommands"]?.arrayValue ?? [] {
        guard let name = inner["commandName"]?.stringValue, name != "help" else { continue }
        take(inner, path + [name])
        // `tureen conflicts` is `tureen conflicts list`.
        guard command["defaultSubcommand"] == .string(name) else { continue }
        found[path.joined(separator: " "), default: []].formUnion(found[(path + [name]).joined(separator: " ")] ?? [])
      }
    }
    take(try JSONValue(parsing: Array(ended.output.utf8))["command"] ?? .null, [])
    return found
  }

  /// A command that only groups others has no options of its own; it is named with them.
  private func isRunnable(_ name: String, _ commands: [String: Set<String>]) -> Bool {
    guard let options = commands[name], !name.isEmpty else { return false }
    return !options.subtracting(["version", "help"]).isEmpty || !commands.keys.contains { $0.hasPrefix(name + " ") }
  }

  @Test func commands_all_areInTheTableOfTheirPage() async throws {
    let commands = try await commands(), page = try page("commands")
    #expect(commands.count > 5)
    let rows = Set(page.rows().flatMap { row in matches(#/`tureen ([a-z]+(?: [a-z]+)?)/#, in: row[0]) })
    same(Set(commands.keys.filter { isRunnable($0, commands) }), rows, "command", page.path)
  }

  /// The first section has the options that several commands share; each command's own options are in its section, which a group of
  /// commands, such as `cache list` and `cache clear`, shares.
  @Test func options_ofEachCommand_areInItsSection() async throws {
    let commands = try await commands(), page = try page("commands"), option = #/--([a-z][a-z-]+)/#
    let everywhere: Set = ["version", "help"]
    var sections: [String: String] = [:]
    for part in page.text.components(separatedBy: "\n## ") {
      sections[part.hasPrefix("tureen ") ? String(part.dropFirst(7).prefix { $0 != "\n" }) : "", default: ""] += part
    }
    let shared = matches(option, in: try #require(sections[""]))
    #expect(
      matches(option, in: page.text).subtracting(everywhere).subtracting(commands.values.joined()).isEmpty,
      "\(page) names an option that no command has")
    for (title, section) in sections where !title.isEmpty {
      let those = commands.filter { $0.key == title || $0.key.hasPrefix(title + " ") }
      #expect(!those.isEmpty, "\(page): there is no command '\(title)'")
      // Prose and examples may name options of other commands; the rows of a section's tables are its own.
      let rows = section.components(separatedBy: "\n").filter { $0.hasPrefix("| `-") }
        .map { String($0.dropFirst(2).prefix { $0 != "|" }) }.joined(separator: " ")
      let unknown = matches(option, in: rows).subtracting(those.values.joined()).subtracting(everywhere)
      #expect(unknown.isEmpty, "\(page): 'tureen \(title)' does not have this option")
    }
    for (name, options) in commands where isRunnable(name, commands) {
      let group = String(name.prefix { $0 != " " })
      let section = (sections[name] ?? "") + (sections[group] ?? "")
      let missing = options.subtracting(everywhere).subtracting(shared).subtracting(matches(option, in: section))
      #expect(missing.isEmpty, "\(page): the section of 'tureen \(name)' does not name this option")
    }
  }

  /// Comments, quoted text and continued lines are not part of what a block calls.
  private func calls(_ text: String) -> String {
    text.replacingOccurrences(of: "\\\n", with: " ").replacing(#/'[^']*'/#, with: "_").replacing(#/(?m)(^| )#.*$/#, with: "")
  }

  /// - Returns: How many calls of the command there are.
  private func check(_ text: String, _ place: String, _ commands: [String: Set<String>]) -> Int {
    var count = 0
    for call in text.matches(of: #/(?:^|[\s|(\/])tureen +([a-z]+)([^|\n#;)&]*)/#) {
      count += 1
      let word = String(call.output.1), rest = call.output.2.split(separator: " ").map(String.init)
      let inner = word + " " + (rest.first ?? "")
      let name = commands[inner] != nil || !isRunnable(word, commands) ? inner : word
      guard word != "help" else { continue }
      let options = commands[name]
      #expect(options != nil, "\(place): there is no command '\(name)'")
      for option in rest where option.hasPrefix("--") {
        let asked = String(option.dropFirst(2).prefix { $0 != "=" })
        #expect(options?.contains(asked) ?? true, "\(place): '\(name)' has no option --\(asked)")
      }
    }
    for script in text.matches(of: #/(?:^|[\s(])(scripts\/[A-Za-z0-9_.\/-]+)/#) {
      let file = Built.package.path + "/" + script.output.1
      #expect(FileManager.default.fileExists(atPath: file), "\(place): there is no \(script.output.1)")
    }
    for program in text.matches(of: #/swift run ([A-Za-z]+)/#) {
      let folder = Built.package.path + "/Tests/EndToEnd/Programs/" + program.output.1
      #expect(FileManager.default.fileExists(atPath: folder), "\(place): there is no program \(program.output.1)")
    }
    return count
  }

  /// The commands, options and scripts that a block of commands names exist.
  @Test func shellBlocks_ofEveryPage_callWhatExists() async throws {
    let commands = try await commands()
    var count = 0
    for page in try MarkdownPage.all() + MarkdownPage.articles() {
      for block in page.blocks(in: "sh") { count += check(calls(block.text), "\(page):\(block.line)", commands) }
    }
    #expect(count > 20)
  }

  /// Each sample says in its first lines how to run it, with commands and options that exist.
  @Test func samples_sayHowToRunThem() async throws {
    let commands = try await commands(), folder = Built.package.path + "/scripts/"
    let samples = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".lua") }
    #expect(samples.count > 5)
    let page = try page("getting-started")
    for name in samples {
      let lines = try String(contentsOfFile: folder + name, encoding: .utf8).components(separatedBy: "\n")
      let head = lines.prefix { $0.hasPrefix("--") }.filter { $0.hasPrefix("--   ") }.joined(separator: "\n")
      // What stands in brackets are arguments of the script, and what stands behind two blanks explains the line.
      let usage = head.replacing(#/\[[^\]]*\]/#, with: "").replacing(#/(\.lua[^\n]*?)  [^\n]*/#) { $0.output.1 }
        .replacing(#/(scripts\/\w+\.lua)[^\n]*/#) { $0.output.1 }
      #expect(usage.contains("scripts/" + name), "scripts/\(name) does not say how to run it")
      #expect(check(usage, "scripts/\(name)", commands) > 0, "scripts/\(name) does not say how to run it with tureen")
      #expect(page.text.contains("`\(name)`"), "\(page) does not list scripts/\(name)")
    }
  }

  // MARK: Settings, exit statuses, errors

  @Test func exitStatuses_ofTheCommand_areOnTheirPage() throws {
    let source = try String(
      contentsOf: Built.package.appendingPathComponent("Sources/TureenCLI/TureenCommand.swift"), encoding: .utf8)
    let there = matches(#/static let [a-zA-Z]+: Int32 = ([0-9]+)/#, in: source).union(["0"]), page = try page("automation")
    let named = page.rows().map { $0[0] }.filter { !$0.isEmpty && $0.allSatisfy(\.isNumber) }
    #expect(there.count > 5)
    same(there, Set(named), "exit status", page.path)
  }

  @Test func errorCodes_ofEveryDomain_areOnTheirPage() throws {
    let text = try Data(contentsOf: Built.package.appendingPathComponent("bridge-spec/errors.json"))
    let domains = try #require(try JSONValue(parsing: Array(text)).objectValue), page = try page("troubleshooting")
    var there: Set<String> = []
    for (domain, value) in domains {
      for (code, _) in value["codes"]?.objectValue ?? [:] { there.insert(domain + "/" + code) }
    }
    let named = page.rows().flatMap { matches(#/`([a-z]+\/[a-zA-Z]+)`/#, in: $0[0]) }
    #expect(there.count > 50)
    same(there, Set(named), "error code", page.path)
  }

  @Test func environment_variables_areOnThePagesOfSettings() throws {
    let sources = Built.package.path + "/Sources"
    var there: Set<String> = []
    for name in try FileManager.default.subpathsOfDirectory(atPath: sources) where name.hasSuffix(".swift") {
      there.formUnion(matches(#/"(TUREEN_[A-Z_]+)"/#, in: try String(contentsOfFile: sources + "/" + name, encoding: .utf8)))
    }
    #expect(there.count > 10)
    let pages = try MarkdownPage.guide()
    let settings = try page("configuration-files")
    #expect(
      there.subtracting(matches(#/`(TUREEN_[A-Z_]+)`/#, in: settings.text)).isEmpty, "\(settings) does not name the variable")
    let header = try String(
      contentsOf: Built.package.appendingPathComponent("Sources/CTureenModule/include/tureen.h"), encoding: .utf8)
    let known = there.union(try signInVariables()).union(matches(#/(TUREEN_[A-Z_]*[A-Z])/#, in: header))
      .union(["INPUT", "PATIENCE", "ROUNDS", "SEED", "TARGET"].map { "TUREEN_FUZZ_" + $0 })  // of the tests
    for page in pages {
      let unknown = matches(#/(TUREEN_[A-Z_]*[A-Z])/#, in: page.text).subtracting(known)
      #expect(unknown.isEmpty, "\(page) names a variable that nothing reads")
    }
  }

  /// The variables of sign-ins, which are made of the keys of credentials files. Each key is on the page of orgs.
  private func signInVariables() throws -> Set<String> {
    let source = try String(contentsOfFile: Built.package.path + "/Sources/Tureen/SignInKeys.swift", encoding: .utf8)
    let list = try #require(source.components(separatedBy: "static var all").first), page = try page("your-own-org")
    let places: Set = ["File", "Variable", "Command"], keys = matches(#/"([a-z][A-Za-z]+)"/#, in: list)
    #expect(keys.count == 15)
    for key in keys { #expect(page.text.contains(key), "\(page) does not name '\(key)'") }
    return Set(
      keys.flatMap { key in [key] + places.map { key + $0 } }.map { key in
        "TUREEN_" + key.map { $0.isUppercase ? "_\($0)" : $0.uppercased() }.joined()
      })
  }

  /// What a message says behind "known: ".
  private func keysListed(in message: String) -> [String] {
    guard let start = message.range(of: "; known: ") else { return [] }
    return message[start.upperBound...].split(separator: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
  }

  @Test func settings_ofBootconfig_areOnTheirPage() async throws {
    let place = try Workplace(), page = try page("configuration-files")
    try place.write(#"{"qqqqqqqq": 1}"#, to: "bootconfig.json")
    let known = Set(keysListed(in: try await place.runScript(try place.write("", to: "s.lua")).errors))
    #expect(known.count > 15)
    #expect(known.subtracting(page.codeWords()).isEmpty, "\(page) does not name the setting")
    // The column of keys, and the sentence about keys of the mobile SDKs.
    let rows = page.rows(), head = try #require(rows.first { $0[0] == "setting" })
    let column = try #require(head.firstIndex { $0.contains("`bootconfig.json`") })
    let listed = rows.filter { $0.count == head.count && $0 != head }.flatMap { matches(#/`([a-zA-Z]+)`/#, in: $0[column]) }
    // Values of settings and functions that the column names beside the keys.
    let others: Set = ["program", "tureen_open", "refuse", "moveAside", "one", "home", "all", "names", "off"]
    #expect(Set(listed).subtracting(known).subtracting(others).isEmpty, "\(page) names a setting that does not exist")
    #expect(Set(listed).count > 10)
  }

  /// Connections whose keys the errors list: at the top, and inside the keys that hold objects.
  private static let connections = [
    #"{"qqqqqqqq": 1}"#, #"{"kind": "parse", "qqqqqqqq": 1}"#,
    #"{"baseURL": "https://a.example", "auth": {"type": "bearer", "qqqqqqqq": 1}}"#,
    #"{"baseURL": "https://a.example", "auth": {"type": "basic", "qqqqqqqq": 1}}"#,
    #"{"baseURL": "https://a.example", "auth": {"type": "header", "qqqqqqqq": 1}}"#,
    #"{"baseURL": "https://a.example", "auth": {"type": "clientCredentials", "qqqqqqqq": 1}}"#,
    #"{"baseURL": "https://a.example", "cache": {"qqqqqqqq": 1}}"#,
    #"{"baseURL": "https://a.example", "log": {"qqqqqqqq": 1}}"#,
    #"{"baseURL": "https://a.example", "quota": {"qqqqqqqq": 1}}"#,
    #"{"baseURL": "https://a.example", "errors": {"qqqqqqqq": 1}}"#,
    #"{"baseURL": "https://a.example", "maxParallel": {"qqqqqqqq": 1}}"#,
    #"{"kind": "parse", "serverURL": "https://a.example", "applicationId": "a", "restAPIKey": {"qqqqqqqq": 1}}"#,
  ]

  @Test func connections_everyKey_isOnTheirPage() async throws {
    let place = try Workplace(), page = try page("connections"), script = try place.write("", to: "s.lua")
    var known: Set<String> = []
    for connection in Self.connections {
      try place.write(#"{"a": \#(connection)}"#, to: "connections.json")
      let keys = keysListed(in: try await place.runScript(script).errors)
      #expect(!keys.isEmpty, "\(connection)")
      known.formUnion(keys)
    }
    #expect(known.subtracting(page.names()).isEmpty, "\(page) does not name the key")
    #expect(keysOfTables(page).subtracting(known).isEmpty, "\(page) has a row for a key that connections do not have")
    #expect(keysOfTables(page).count > 20)
  }

  /// The keys in the first column of the tables whose head is `key` or `key of …`.
  private func keysOfTables(_ page: MarkdownPage) -> Set<String> {
    let rows = page.rows()
    var keys: Set<String> = [], isKeys = false
    for (i, row) in rows.enumerated() {
      if rows.indices.contains(i + 1), rows[i + 1][0].hasPrefix("---") {
        isKeys = row[0] == "key" || row[0].hasPrefix("key of ")
      } else if isKeys {
        keys.formUnion(matches(#/`([A-Za-z_]+)`/#, in: row[0].replacing(#/\(.*\)/#, with: "")))
      }
    }
    return keys
  }

  // MARK: Targets and options

  /// Asks for the keys of each target, of what is inside it, and of the options, through the errors for one that is not known.
  private static let keys = """
    local tureen = require "tureen"
    local mobilesync, await = tureen.mobilesync, tureen.await
    local bad = { qqqqqqqq = 1 }
    local function ask(create, target, options)
      local _, err = await(create, target, "x", options or { fieldlist = { "a" } })
      print(err.message)
    end
    local down, up = mobilesync.createSyncDown, mobilesync.createSyncUp
    local function rest(members)
      local target = { type = "rest", connection = "c", url = "/x" }
      for key, value in pairs(members) do target[key] = value end
      ask(down, target)
    end
    tureen.main(function()
      ask(down, { type = "qqqqqqqq" })
      ask(up, { type = "qqqqqqqq" })
      for _, type in ipairs { "soql", "sosl", "mru", "refresh", "layout", "metadata", "parent_children", "briefcase", "rest", "parse" } do
        ask(down, { type = type, qqqqqqqq = 1 })
      end
      for _, type in ipairs { "plain", "collection", "batch", "parent_children", "parse" } do ask(up, { type = type, qqqqqqqq = 1 }) end
      for _, key in ipairs { "paging", "incremental", "ghosts", "detail", "up" } do rest { [key] = bad } end
      for _, key in ipairs { "where", "assets" } do rest { [key] = { bad } } end
      for _, key in ipairs { "create", "read", "tag" } do rest { up = { [key] = bad } } end
      for _, key in ipairs { "prepare", "lookup" } do rest { up = { create = { url = "/x", fields = { "a" }, [key] = bad } } } end
      ask(down, { type = "parse", className = "A", relations = { bad } })
      ask(down, { type = "parse", className = "A", pointers = { a = bad } })
      ask(down, { type = "parent_children", parent = bad })
      ask(down, { type = "parent_children", children = bad })
      ask(down, { type = "briefcase", infos = { bad } })
      ask(down, { type = "soql", query = "SELECT Id FROM A" }, bad)
    end)
    """

  @Test func targetsAndOptions_everyKey_isOnAPage() async throws {
    let place = try Workplace()
    let ended = try await place.runScript(try place.write(Self.keys, to: "keys.lua"))
    let lists = ended.output.split(separator: "\n").map { (message: String($0), keys: keysListed(in: String($0))) }
    #expect(ended.status == 0 && lists.count == 35, "\(ended)")
    let targets = try page("targets"), options = try page("configuration-files")
    let others = try ["rest": [page("collections"), page("collections-up")], "parse": [page("parse")]]
    for (message, keys) in lists {
      #expect(!keys.isEmpty, "\(message)")
      guard let type = Self.type(in: message) else { continue }
      let places = try targets.sections { $0.contains(try Regex("\\b\(type)\\b")) } + (others[type] ?? [])
      let named = places.reduce(into: Self.common) { $0.formUnion($1.names()) }
      #expect(Set(keys).subtracting(named).isEmpty, "the sections of '\(type)' do not name the key: \(message)")
    }
    let rows = options.rows(), start = try #require(rows.firstIndex { $0[0] == "option" })
    let listed = rows[(start + 2)...].prefix { $0[0].hasPrefix("`") }.map { $0[0].filter { $0 != "`" } }
    same(Set(try #require(lists.last).keys), Set(listed), "option", options.path)
    // And the other way round: the keys in the tables exist.
    let known = Set(lists.flatMap(\.keys))
    for page in [targets] + others.values.joined() {
      #expect(keysOfTables(page).subtracting(known).isEmpty, "\(page) has a row for a key that no target has")
    }
    let types = targets.rows().prefix { $0[0] != "key" }.flatMap { matches(#/`([a-z_]+)`/#, in: $0[0]) }
    same(Set(lists[0].keys), Set(types), "type of sync down target", targets.path)
    #expect(Set(lists[1].keys).subtracting(targets.names()).isEmpty, "\(targets) does not name the type of sync up target")
  }

  /// Keys of every target, which the page explains once.
  private static let common: Set = ["type", "idFieldName", "modificationDateFieldName"]

  /// The target that an error is about; nil for options and unknown types.
  private static func type(in message: String) -> String? {
    if message.hasPrefix("sync up target") { return "collection" }
    guard let range = message.range(of: " target"), !message.hasPrefix("unknown") else { return nil }
    return String(message[..<range.lowerBound])
  }
}
