import JSON

/// How an engine runs a smart query: its steps, and the soups that it reads from the first entry to the last.
public struct SmartQueryPlan: Sendable, Equatable {
  public struct Step: Sendable, Equatable {
    public let id: Int64
    /// The step that this one is a part of; 0 for none.
    public let parent: Int64
    /// The engine's words, with soups and paths as in smart SQL.
    public let text: String

    package init(id: Int64, parent: Int64, text: String) { (self.id, self.parent, self.text) = (id, parent, text) }
  }

  /// A soup that is read as a whole.
  public struct Scan: Sendable, Equatable {
    public let soupName: String
    /// The paths that the query filters, joins, groups or sorts by and that have no index: with one, it might not
    /// have to read every entry.
    public let paths: [String]

    package init(soupName: String, paths: [String]) { (self.soupName, self.paths) = (soupName, paths) }
  }

  public let steps: [Step]
  public let scans: [Scan]

  package init(steps: [Step], scans: [Scan]) { (self.steps, self.scans) = (steps, scans) }

  /// The form that scripts get.
  public var json: JSONObject {
    [
      "steps": .array(steps.map { ["id": .integer($0.id), "parent": .integer($0.parent), "text": .string($0.text)] }),
      "scans": .array(
        scans.map { ["soupName": .string($0.soupName), "paths": .array($0.paths.map { .string($0) })] }),
    ]
  }
}

extension Store {
  /// Returns how a smart query would be run, without running it.
  /// - Throws: ``StoreError`` `.noSuchSoup`, `.invalidSmartSql`, `.notReadOnly`, `.invalidQuerySpec`.
  public func queryPlan(_ spec: QuerySpec) throws -> SmartQueryPlan {
    guard spec.kind == .smart else { throw StoreError(.invalidQuerySpec, "query spec: only smart SQL has a plan") }
    return try readBlocking { try $0.queryPlan(of: spec) }
  }
}

/// The soups of a smart query with their aliases, and the paths that decide which entries are read.
package struct SmartSqlClauses: Sendable, Equatable {
  package struct Reference: Sendable, Hashable {
    package let soup: String
    package let path: String
  }

  /// The soups by what the statement calls them: the alias, else the soup's own name.
  package private(set) var soups: [(name: String, soup: String)] = []
  /// The paths after WHERE, ON, GROUP BY, HAVING and ORDER BY, each once.
  package private(set) var deciding: [Reference] = []

  private static let clauseWords: Set = ["where", "on", "group", "having", "order", "using"]
  /// Words that follow a soup and are not its alias.
  private static let others = clauseWords.union([
    "select", "from", "join", "left", "inner", "cross", "natural", "full", "right", "outer", "limit", "union", "except",
    "intersect",
    "window", "indexed", "not",
  ])

  package init(_ smartSql: String) {
    let text = Array(smartSql.utf8)
    var i = 0, isDeciding = false, unnamed: Int?
    while i < text.count {
      switch text[i] {
      case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"):
        // A doubled quote ends one text and begins the next.
        i = (text[(i + 1)...].firstIndex(of: text[i]) ?? text.count - 1) + 1
      case UInt8(ascii: "{"):
        let end = text[i...].firstIndex(of: UInt8(ascii: "}")) ?? text.count - 1
        let inner = String(decoding: text[min(i + 1, end)..<end], as: UTF8.self)
        let parts = inner.split(separator: ":", maxSplits: 1).map(String.init)
        i = end + 1
        if parts.count == 2 {
          let reference = Reference(soup: parts[0], path: parts[1])
          if isDeciding, !deciding.contains(reference) { deciding.append(reference) }
        } else if let soup = parts.first {
          soups.append((soup, soup))
          unnamed = soups.count - 1
        }
      case let c where c.isASCIILetter || c == UInt8(ascii: "_"):
        let end = text[i...].firstIndex { !($0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_")) } ?? text.count
        let word = String(decoding: text[i..<end], as: UTF8.self), lowered = word.lowercased()
        i = end
        if Self.clauseWords.contains(lowered) { isDeciding = true } else if lowered == "select" { isDeciding = false }
        if let place = unnamed, lowered != "as" {
          if !Self.others.contains(lowered) { soups[place].name = word }
          unnamed = nil
        }
      case UInt8(ascii: ","), UInt8(ascii: ")"), UInt8(ascii: ";"), UInt8(ascii: "."):
        unnamed = nil
        i += 1
      default: i += 1
      }
    }
  }

  package static func == (a: SmartSqlClauses, b: SmartSqlClauses) -> Bool {
    a.deciding == b.deciding && a.soups.elementsEqual(b.soups) { $0 == $1 }
  }

  /// Returns the scan of a soup.
  /// - Parameter specs: The soup's index specs.
  package func scan(of soup: String, _ specs: [IndexSpec]) -> SmartQueryPlan.Scan {
    let own: Set = [SoupField.soup, SoupField.entryId, SoupField.created, SoupField.lastModified]
    let paths = deciding.filter { reference in
      reference.soup.hasSameBytes(as: soup) && !own.contains(reference.path)
        && !specs.contains { $0.path.hasSameBytes(as: reference.path) }
    }
    return SmartQueryPlan.Scan(soupName: soup, paths: paths.map(\.path))
  }
}
