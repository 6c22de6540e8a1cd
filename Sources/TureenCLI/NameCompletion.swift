import ArgumentParser
import Glibc
import LuaBridge
import Tureen

/// Completes names of orgs, users, stores, soups, syncs and actions. The completion scripts of the shells run
/// `tureen ---completion` for them.
///
/// Only files are read, and errors leave the list empty: see ``HomeNames``.
enum NameCompletion {
  /// True if a completion script runs the command.
  static var isRequested: Bool { CommandLine.arguments.dropFirst().first == "---completion" }

  /// For `--org` of commands that work with an org.
  static let org = kind { names, _ in names.orgs() + ["sandbox"] }

  /// For commands that change what the home knows about an org.
  static let knownOrg = kind { names, _ in names.orgs() }

  static let user = kind { names, _ in names.users() }

  static let storeName = kind { names, words throws(CommandWords.Unreadable) in
    names.stores(isGlobal: try words.store().isGlobal)
  }

  static let soup = kind { names, words throws(CommandWords.Unreadable) in names.soups(in: try words.store()) }

  static let sync = kind { names, words throws(CommandWords.Unreadable) in names.syncs(in: try words.store()) }

  /// For the action of `tureen exec`. The service is on the command line already.
  static let action = CompletionKind.custom { words, index, _ in
    CommandWords(words, completing: index).plain.lazy.map(ActionList.actions).first { !$0.isEmpty } ?? []
  }

  /// - Parameter find: Returns the candidates. Those that are on the command line already are not offered again.
  private static func kind(
    _ find: @escaping @Sendable (HomeNames, CommandWords) throws(CommandWords.Unreadable) -> [String]
  ) -> CompletionKind {
    .custom { words, index, _ in
      let words = CommandWords(words, completing: index)
      do {
        let taken = Set(words.plain.dropFirst(2))
        return try find(try words.names(), words).filter { isOffered($0) && !taken.contains($0) }.map(forShell)
      } catch {
        return []
      }
    }
  }

  /// False for names that a shell could not show or that the parser would take for an option.
  private static func isOffered(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix("-") && TerminalText.escaped(name) == name
  }

  /// zsh shows what follows a colon as a description.
  private static func forShell(_ name: String) -> String {
    guard CompletionShell.requesting == .zsh else { return name }
    return name.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:")
  }
}

/// The words of a command line as the shell passes them to a completion: with quotes, and in bash split at `=`.
struct CommandWords {
  /// An option has a value that only the shell knows, such as `$HOME/x`.
  struct Unreadable: Error {}

  /// nil for words that only the shell can read.
  private let words: [String?]

  /// - Parameter index: The position of the word that is being completed, which is left out.
  init(_ words: [String], completing index: Int) {
    self.words = words.enumerated().filter { $0.offset != index }.map { Self.unquoted($0.element) }
  }

  /// The readable words.
  var plain: [String] { words.compactMap { $0 } }

  /// Returns the value of the last occurrence of an option; nil if it is not given.
  func value(of option: String) throws(Unreadable) -> String? {
    var value: String?
    for (i, word) in words.enumerated() {
      if let word, word.hasPrefix(option + "=") { value = String(word.dropFirst(option.count + 1)) }
      guard word == option, i + 1 < words.count else { continue }
      let next = words[i + 1] == "=" && i + 2 < words.count ? words[i + 2] : words[i + 1]
      guard let next else { throw Unreadable() }
      value = next
    }
    return value
  }

  /// The store of the command.
  func store() throws(Unreadable) -> StoreReference {
    StoreReference(
      name: try value(of: "--store-name") ?? StoreReference.defaultName, isGlobal: words.contains("--global-store"))
  }

  /// The names that the command's options lead to.
  func names() throws(Unreadable) -> HomeNames {
    HomeNames(
      home: try value(of: "--home"), org: try value(of: "--org"), user: try value(of: "--user"),
      configDirectory: ProjectOptions.folder(try value(of: "--config")))
  }

  /// Removes quotes and backslashes, and expands a leading `~/`. Returns nil for a word with a variable, a command or another
  /// user's `~`.
  static func unquoted(_ word: String) -> String? {
    var text = "", quote: Character?, isEscaped = false
    for letter in word {
      if isEscaped {
        // In double quotes a backslash is special only before these.
        if quote != nil, !"\"\\$`".contains(letter) { text.append("\\") }
        text.append(letter)
        isEscaped = false
      } else if letter == "\\", quote != "'" {
        isEscaped = true
      } else if letter == quote {
        quote = nil
      } else if quote == nil, letter == "'" || letter == "\"" {
        quote = letter
      } else if letter == "$" || letter == "`", quote != "'" {
        return nil
      } else {
        text.append(letter)
      }
    }
    guard word.hasPrefix("~") else { return text }
    guard word == "~" || word.hasPrefix("~/"), let home = getenv("HOME") else { return nil }
    return String(cString: home) + text.dropFirst()
  }
}
