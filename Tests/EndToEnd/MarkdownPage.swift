import Foundation

/// A page of the documents: its fenced blocks, and what the test of examples makes of them.
///
/// - A block after a line that holds nothing but a file name, as `` `people.lua`: ``, is that file.
/// - A `lua` block is a script, or goes on with the one before unless it begins with `local tureen = require`. Of `lua fragment` only
///   the syntax is looked at.
/// - A `text` block right behind a script or an `sh` block is what that prints. An `sh` block without one is not run.
struct MarkdownPage: Sendable, CustomStringConvertible {
  struct Block: Sendable {
    let info: String
    /// The file that it is.
    let file: String?
    let text: String
    /// The line of its fence, from 1 on.
    let line: Int
    /// Whether nothing stands between it and the block before.
    let isAdjacent: Bool
  }

  enum Step: Sendable {
    case file(String, text: String)
    case script(String, prints: String, line: Int)
    case fragment(String, line: Int)
    case commands(String, prints: String, line: Int)
  }

  /// From the package's folder.
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

  /// The README and every page of the guide.
  static func guide() throws -> [MarkdownPage] {
    let names = try FileManager.default.contentsOfDirectory(atPath: Built.package.path + "/" + folder).sorted()
    return try ["README.md"].map(MarkdownPage.init)
      + names.filter { $0.hasSuffix(".md") }.map { try MarkdownPage(folder + "/" + $0) }
  }

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
      blocks.append(
        Block(
          info: lines[i].dropFirst(3).trimmingCharacters(in: .whitespaces),
          file: isFile ? String(before.dropFirst().dropLast(2)) : nil,
          text: lines[(i + 1)..<end].map { $0 + "\n" }.joined(), line: i + 1, isAdjacent: lastEnd == i - 1))
      (lastEnd, i, before) = (end, end + 1, "")
    }
    return blocks
  }

  /// The texts of the blocks in one language.
  func texts(_ info: String) -> [String] { blocks.filter { $0.info == info }.map(\.text) }

  /// What to do, in order.
  func steps() -> [Step] {
    var steps: [Step] = []
    for (i, block) in blocks.enumerated() {
      let output =
        blocks.indices.contains(i + 1) && blocks[i + 1].info == "text" && blocks[i + 1].isAdjacent
        ? blocks[i + 1].text : nil
      switch block.info {
      case _ where block.file != nil: steps.append(.file(block.file ?? "", text: block.text))
      case "lua":
        if !block.text.hasPrefix("local tureen = require"), case .script(let text, let prints, let line)? = steps.last {
          steps[steps.count - 1] = .script(text + block.text, prints: prints + (output ?? ""), line: line)
        } else {
          steps.append(.script(block.text, prints: output ?? "", line: block.line))
        }
      case "lua fragment": steps.append(.fragment(block.text, line: block.line))
      case "sh": if let output { steps.append(.commands(block.text, prints: output, line: block.line)) }
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

  /// The rows of all tables, cells without blanks around them; heads and rules are among them.
  func rows() -> [[String]] {
    text.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
      .map { $0.split(separator: "|", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) } }
      .map { Array($0.dropFirst().dropLast()) }
  }
}
