import Foundation
import Testing

/// The articles of the Swift reference show code of the programs that the tests build and run: `<!-- from AccountList -->` before
/// a block says that the program has these lines, apart from their indentation.
@Suite struct SwiftReferenceTests {
  private static let catalog = Built.package.path + "/Sources/Tureen/Tureen.docc"
  /// Each has an article and a program of its name.
  private static let programs = ["AccountList", "DetailView", "OptimisticDelete"]
  private static let articles = programs + ["GettingStarted"]

  /// A fenced block of an article.
  private struct Block {
    let language: String
    /// The program that the comment before it names.
    let program: String?
    let lines: [String]
    /// The line of its fence, from 1 on.
    let line: Int
  }

  private static func lines(_ path: String) throws -> [String] {
    try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
  }

  private static func program(_ name: String) throws -> [String] {
    try lines(Built.package.path + "/Tests/EndToEnd/Programs/SwiftSamples/\(name).swift")
  }

  private static func blocks(_ article: String) throws -> [Block] {
    let lines = try lines("\(catalog)/\(article).md")
    var blocks: [Block] = [], before = "", i = 0
    while i < lines.count {
      guard lines[i].hasPrefix("```") else {
        if !lines[i].isEmpty { before = lines[i] }
        i += 1
        continue
      }
      let end = lines[(i + 1)...].firstIndex(of: "```") ?? lines.count
      let isMarked = before.hasPrefix("<!-- from ") && before.hasSuffix(" -->")
      blocks.append(
        Block(
          language: String(lines[i].dropFirst(3)), program: isMarked ? String(before.dropFirst(10).dropLast(4)) : nil,
          lines: Array(lines[(i + 1)..<end]), line: i + 1))
      (i, before) = (end + 1, "")
    }
    return blocks
  }

  private static func indentation(_ lines: some Sequence<String>) -> Int {
    lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
  }

  /// Whether these lines stand in a program one after the other, all of them moved by the same indentation.
  static func contains(_ program: [String], _ block: [String]) -> Bool {
    func moved(_ lines: some Sequence<String>) -> [String] {
      let indentation = indentation(lines)
      return lines.map { String($0.dropFirst(indentation)) }
    }
    let wanted = moved(block)
    guard !wanted.isEmpty, wanted.count <= program.count else { return false }
    return (0...(program.count - wanted.count)).contains { moved(program[$0..<($0 + wanted.count)]) == wanted }
  }

  @Test(arguments: articles) func article_showsCodeOfItsProgram(article: String) throws {
    let marked = try Self.blocks(article).filter { $0.program != nil }
    #expect(!marked.isEmpty, "\(article).md shows no code of a program")
    for block in marked {
      let name = block.program ?? ""
      #expect(
        try Self.contains(Self.program(name), block.lines),
        "\(article).md:\(block.line): SwiftSamples/\(name).swift does not have these lines:\n\(block.lines.joined(separator: "\n"))"
      )
    }
  }

  /// Code that occurs only in an article would become outdated.
  @Test(arguments: programs) func articleOfAProgram_hasNoOtherSwift(article: String) throws {
    for block in try Self.blocks(article) where block.language == "swift" {
      #expect(block.program == article, "\(article).md:\(block.line): say which program this is from")
    }
  }

  @Test func landingPage_leadsToEveryArticle() throws {
    let page = try Self.lines(Self.catalog + "/Tureen.md")
    for article in Self.articles { #expect(page.contains("- <doc:\(article)>"), "Tureen.md does not list \(article)") }
  }

  @Test func block_withAnotherLine_isNotInTheProgram() {
    let program = ["struct A {", "  func b() {", "    c()", "", "    d()", "  }", "}"]
    #expect(Self.contains(program, ["func b() {", "  c()", "", "  d()", "}"]))
    #expect(Self.contains(program, ["c()", "", "d()"]))
    #expect(!Self.contains(program, ["c()", "d()"]))
    #expect(!Self.contains(program, ["func b() {", "c()"]))
    #expect(!Self.contains(program, ["c("]))
  }
}
