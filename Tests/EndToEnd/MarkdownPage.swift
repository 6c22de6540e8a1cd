import Foundation

/// A page of the documentation: its fenced blocks, and how the tests treat them.
///
/// - A block after a line that holds nothing but a file name, as `` `people.lua`: ``, is that file.
/// - A `lua` block is a script. It continues the one before it unless it begins with `local tureen = require`. Of `lua fragment`
///   only the syntax is checked.
/// - A `text` block directly after a script or an `sh` block is its output. Lines of more than 88 columns are wrapped at spaces.
/// - An `sh` block without an output gives the reason as its second word; ``Unrun`` lists the reasons.
/// - `json`, `c`, `python` and `swift` blocks are parsed, compiled, or found in a program that is.
struct MarkdownPage: Sendable, CustomStringConvertible {
  struct Block: Sendable {
    /// `lua`, `sh` and so on.
    let language: String
    /// The word after the language.
    let mark: String?
    /// The file that the block is.
    let file: String?
    let text: String
    /// The line of its fence, counted from 1.
    let line: Int
    /// Whether nothing stands between it and the block before it.
    let isAdjacent: Bool
  }

  /// Why the tests do not run a block of commands. They check its syntax, its commands and their options.
  enum Unrun: String {
    /// It builds or installs, which other tests do.
    case build
    /// It needs an org, an account or a desktop of the reader.
    case org
    /// It serves until Ctrl-C: the tests start each line, wait until it serves, and stop it.
    case serve
  }

  enum Step: Sendable {
    case file(String, text: String)
    case script(String, prints: String, line: Int)
    case fragment(String, line: Int)
    case commands(String, prints: String, line: Int)
  }

  /// Relative to the package's folder.
  let path: String
  let text: String
  let blocks: [Block]

  var description: String { path }

  init(_ path: String) throws {
    self.path = path
    text = try String(contentsOf: Built.package.appendingPathComponent(path), encoding: .utf8)
    blocks = MarkdownPage.blocks(text)
  }

  static let folder = "bridge-spec/guide"

  private static func pages(in folder: String) throws -> [MarkdownPage] {
    try FileManager.default.contentsOfDirectory(atPath: Built.package.path + "/" + folder).sorted()
      .filter { $0.hasSuffix(".md") && $0 != "reference.md" }.map { try MarkdownPage(folder + "/" + $0) }
  }

  /// The README and every page of the guide.
  static func guide() throws -> [MarkdownPage] { try [MarkdownPage("README.md")] + pages(in: folder) }

  /// Every page that people write by hand, except the articles.
  static func all() throws -> [MarkdownPage] {
    try guide() + pages(in: "bridge-spec") + pages(in: "bridge-spec/sandbox") + [
      MarkdownPage("CHANGELOG.md"), MarkdownPage("CONTRIBUTING.md"),
    ]
  }

  /// The articles of the Swift reference. `SwiftReferenceTests` compares their Swift with programs.
  static func articles() throws -> [MarkdownPage] { try pages(in: "Sources/Tureen/Tureen.docc") }

  private static func blocks(_ text: String) -> [Block] {
    let lines = text.components(separatedBy: "\n")
    var blocks: [Block] = [], i = 0, before = "", lastEnd = -1
    while i < lines.count {
      guard lines[i].hasPrefix("```") else {
        if !lines[i].isEmpty { before = lines[i] }
        i += 1
        continue
      }
      let end = lines[(i + 1)...].firstIndex(of: "```") ?? lines.count
      let isFile = before.hasPrefix("`") && before.hasSuffix("`:") && before.filter { $0 == "`" }.count == 2
      let words = lines[i].dropFirst(3).split(separator: " ").map(String.init)
      blocks.append(
        Block(
          language: words.first ?? "", mark: words.dropFirst().first,
          file: isFile ? String(before.dropFirst().dropLast(2)) : nil,
          text: lines[(i + 1)..<end].map { $0 + "\n" }.joined(), line: i + 1, isAdjacent: lastEnd == i - 1))
      (lastEnd, i, before) = (end, end + 1, "")
    }
    return blocks
  }

  /// The blocks of one language that are not files.
  func blocks(in language: String) -> [Block] { blocks.filter { $0.language == language && $0.file == nil } }

  /// What a block prints, as the page shows it.
  func output(of i: Int) -> String? {
    guard blocks.indices.contains(i + 1), blocks[i + 1].language == "text", blocks[i + 1].isAdjacent else { return nil }
    return blocks[i + 1].text
  }

  /// Whether a page that shows `prints` shows this output. A line that is too long for a page continues on indented lines.
  static func shows(_ prints: String, _ output: String) -> Bool {
    var shown = prints.components(separatedBy: "\n")[...]
    for line in output.components(separatedBy: "\n") {
      guard var text = shown.popFirst() else { return false }
      while line.count > 88, line.hasPrefix(text + " "), let next = shown.first, next.hasPrefix("  ") {
        text += " " + next.drop { $0 == " " }
        shown.removeFirst()
      }
      guard text == line else { return false }
    }
    return shown.isEmpty
  }

  /// What a reader would do, in order.
  func steps() -> [Step] {
    var steps: [Step] = []
    for (i, block) in blocks.enumerated() {
      let output = output(of: i)
      switch (block.language, block.mark) {
      case _ where block.file != nil: steps.append(.file(block.file ?? "", text: block.text))
      case ("lua", nil):
        if !block.text.hasPrefix("local tureen = require"), case .script(let text, let prints, let line)? = steps.last {
          steps[steps.count - 1] = .script(text + block.text, prints: prints + (output ?? ""), line: line)
        } else {
          steps.append(.script(block.text, prints: output ?? "", line: block.line))
        }
      case ("lua", _): steps.append(.fragment(block.text, line: block.line))
      case ("sh", nil): if let output { steps.append(.commands(block.text, prints: output, line: block.line)) }
      default: break
      }
    }
    return steps
  }

  /// Words in backticks.
  func codeWords() -> Set<String> {
    var words: Set<String> = [], isCode = false
    let prose = text.components(separatedBy: "\n").filter { line in
      if line.hasPrefix("```") { isCode.toggle() }
      return !isCode && !line.hasPrefix("```")
    }
    for (i, part) in prose.joined(separator: "\n").components(separatedBy: "`").enumerated() where i % 2 == 1 {
      words.insert(part)
    }
    return words
  }

  /// Every name inside backticks: `{"path", "exists"}` holds two.
  func names() -> Set<String> {
    codeWords().reduce(into: []) { names, words in
      names.formUnion(words.matches(of: #/[A-Za-z][A-Za-z0-9_]*/#).map { String($0.output) })
    }
  }

  /// The sections whose heading of the second level fits.
  func sections(_ fits: (String) throws -> Bool) rethrows -> [MarkdownPage] {
    try text.components(separatedBy: "\n## ").dropFirst().filter { try fits(String($0.prefix { $0 != "\n" })) }
      .map { MarkdownPage(path: path, text: $0) }
  }

  private init(path: String, text: String) {
    (self.path, self.text, blocks) = (path, text, MarkdownPage.blocks(text))
  }

  /// The rows of all tables, with trimmed cells; heads and rules are among them.
  func rows() -> [[String]] {
    text.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
      .map { $0.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) } }
      .map { Array($0.dropFirst().dropLast()) }
  }
}
