import ArgumentParser
import JSON
import Support

/// An option that a command does not have. The parser complains about missing arguments first, so that a mistyped option hides
/// behind a complaint about something else.
struct UnknownOption {
  /// The words of the command, such as `["job", "add"]`.
  let command: [String]
  let text: String

  /// - Parameter words: A refused command line, without the program's name.
  /// - Returns: nil if the command has all of its options.
  init?(in words: [String]) {
    guard let tool = try? JSONValue(parsing: TureenCommand._dumpHelp()), var told = tool["command"] else { return nil }
    var command: [String] = [], named = 0
    func inner(_ name: String) -> JSONValue? {
      told["subcommands"]?.arrayValue?.first { $0["commandName"]?.stringValue == name }
    }
    while named < words.count, let next = inner(words[named]) {
      told = next
      command.append(words[named])
      named += 1
    }
    if let name = told["defaultSubcommand"]?.stringValue, let next = inner(name) {
      told = next
      command.append(name)
    }
    let options = Options(told)
    guard let wrong = options.firstUnknown(among: words.dropFirst(named)) else { return nil }
    let near = NearestName.find(wrong, among: options.names.sorted())
    self.command = command
    text = "Unknown option '\(wrong)'" + (near.map { ". Did you mean '\($0)'?" } ?? "")
  }

  /// The options of a command, as the parser describes them.
  private struct Options {
    private(set) var names: Set<String> = []
    /// Options that take the next word as their value.
    private var valued: Set<String> = []
    /// Whether all words after the first argument belong to a script.
    private var endAtAnArgument = false

    init(_ command: JSONValue) {
      for argument in command["arguments"]?.arrayValue ?? [] {
        let strategy = argument["parsingStrategy"]?.stringValue
        if argument["kind"]?.stringValue == "positional", strategy == "allRemainingInput" { endAtAnArgument = true }
        for name in argument["names"]?.arrayValue ?? [] {
          let word = (name["kind"]?.stringValue == "long" ? "--" : "-") + (name["name"]?.stringValue ?? "")
          names.insert(word)
          if argument["kind"]?.stringValue == "option", strategy != "scanningForValue" { valued.insert(word) }
        }
      }
    }

    func firstUnknown(among words: ArraySlice<String>) -> String? {
      var i = words.startIndex
      while i < words.endIndex, words[i] != "--" {
        let word = words[i], name = word.split(separator: "=", maxSplits: 1).first.map(String.init) ?? word
        if word.hasPrefix("--") {
          guard names.contains(name) else { return name }
        } else if endAtAnArgument, !word.hasPrefix("-") {
          return nil
        }
        i += valued.contains(word) ? 2 : 1
      }
      return nil
    }
  }
}
