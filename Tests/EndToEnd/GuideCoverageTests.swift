import Foundation
import JSON
import Testing

/// The guide names everything that there is to choose, and nothing that there is not.
@Suite(.timeLimit(.minutes(5))) struct GuideCoverageTests {
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
      }
    }
    take(try JSONValue(parsing: Array(ended.output.utf8))["command"] ?? .null, [])
    return found
  }

  /// A command that only holds others is named with them; it has no options of its own.
  private func isRunnable(_ name: String, _ commands: [String: Set<String>]) -> Bool {
    guard let options = commands[name], !name.isEmpty else { return false }
    return !options.subtracting(["version", "help"]).isEmpty || !commands.keys.contains { $0.hasPrefix(name + " ") }
  }

  @Test func commands_eachWithItsOptions_areOnTheirPage() async throws {
    let commands = try await commands(), page = try page("commands")
    #expect(commands.count > 5)
    same(
      Set(commands.values.joined()).subtracting(["version", "help"]),
      matches(#/--([a-z][a-z-]+)/#, in: page.text).subtracting(["version", "help"]), "option", page.path)
    let leaves = commands.keys.filter { isRunnable($0, commands) }
    let rows = Set(page.rows().flatMap { row in matches(#/`tureen ([a-z]+(?: [a-z]+)?)/#, in: row[0]) })
    same(Set(leaves), rows, "command", page.path)
  }

  /// Whatever a block of commands calls is there: commands, their options, scripts of the repository.
  @Test func shellBlocks_ofEveryPage_callWhatThereIs() async throws {
    let commands = try await commands()
    var lines = 0
    for page in try MarkdownPage.guide() {
      for block in page.blocks where block.info == "sh" && block.file == nil {
        let text = block.text.replacingOccurrences(of: "\\\n", with: " ").replacing(#/'[^']*'/#, with: "_")
          .replacing(#/(?m)(^| )#.*$/#, with: "")
        for call in text.matches(of: #/(?:^|[\s|(\/])tureen +([a-z]+)([^|\n#;)&]*)/#) {
          lines += 1
          let word = String(call.output.1), rest = call.output.2.split(separator: " ").map(String.init)
          let inner = word + " " + (rest.first ?? "")
          let name = commands[inner] != nil || !isRunnable(word, commands) ? inner : word
          guard word != "help" else { continue }
          let options = commands[name]
          #expect(options != nil, "\(page):\(block.line): there is no command '\(name)'")
          for option in rest where option.hasPrefix("--") {
            let asked = String(option.dropFirst(2).prefix { $0 != "=" })
            #expect(options?.contains(asked) ?? true, "\(page):\(block.line): '\(name)' has no option --\(asked)")
          }
        }
        for script in text.matches(of: #/(?:^|[\s(])(scripts\/[A-Za-z0-9_.\/-]+)/#) {
          let file = Built.package.path + "/" + script.output.1
          #expect(FileManager.default.fileExists(atPath: file), "\(page):\(block.line): there is no \(script.output.1)")
        }
      }
    }
    #expect(lines > 20)
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
      .union(["TUREEN_FUZZ_ROUNDS", "TUREEN_FUZZ_SEED"])  // of the tests
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
    let known = keysListed(in: try await place.runScript(try place.write("", to: "s.lua")).errors)
    #expect(known.count > 15)
    #expect(Set(known).subtracting(page.codeWords()).isEmpty, "\(page) does not name the setting")
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
    let pages = try [
      page("targets"), page("configuration-files"), MarkdownPage("bridge-spec/collections.md"),
      MarkdownPage("bridge-spec/parse.md"),
    ]
    // `{"path", "exists"}` names keys, too.
    let named = pages.reduce(into: Set<String>()) { named, page in
      for words in page.codeWords() { named.formUnion(matches(#/([A-Za-z][A-Za-z0-9_]*)/#, in: words)) }
    }
    for (message, keys) in lists {
      #expect(!keys.isEmpty, "\(message)")
      #expect(Set(keys).subtracting(named).isEmpty, "no page names the key: \(message)")
    }
    let rows = pages[1].rows(), options = try #require(rows.firstIndex { $0[0] == "option" })
    let listed = rows[(options + 2)...].prefix { $0[0].hasPrefix("`") }.map { $0[0].filter { $0 != "`" } }
    same(Set(try #require(lists.last).keys), Set(listed), "option", pages[1].path)
    // And the other way round: what the tables of the page have in their first column.
    let known = Set(lists.flatMap(\.keys)), targets = pages[0]
    var isKeys = false
    for row in targets.rows() {
      if row[0] == "key" || row[0] == "in" { isKeys = true }
      if !row[0].hasPrefix("`") && row[0] != "key" && !row[0].hasPrefix("---") { isKeys = false }
      guard isKeys else { continue }
      for key in matches(#/`([A-Za-z_]+)`/#, in: row[0]) {
        #expect(known.contains(key), "\(targets) has a row for '\(key)', which no target knows")
      }
    }
  }
}
