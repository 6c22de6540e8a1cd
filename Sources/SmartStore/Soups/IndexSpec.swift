import JSON
import RecordScan
import Support

/// How the values at a path are indexed.
public enum IndexType: String, CaseIterable, Sendable {
  case string, integer, floating, json1
  case fullText = "full_text"

  /// Whether the values of the index are texts, also those of numbers and booleans.
  var holdsTexts: Bool { self == .string || self == .fullText }
}

/// A path and a type that make a field of a soup's entries queryable.
public struct IndexSpec: Sendable, Equatable {
  public let path: String
  public let type: IndexType

  public init(path: String, type: IndexType) {
    self.path = path
    self.type = type
  }

  public static func == (a: IndexSpec, b: IndexSpec) -> Bool { a.path == b.path && a.type == b.type }

  /// The Mobile SDK's stores return index specs with `columnName`, so it is accepted and ignored.
  package static let keys = KnownKeys(["path", "type"], ignoring: ["columnName"])

  /// Parses `{"path": …, "type": …}`.
  /// - Throws: ``StoreError`` `.invalidIndexSpec`, naming the position and the mistake.
  public init(_ json: JSONValue, position: Int = 0) throws(StoreError) {
    if let unknown = json.objectValue.flatMap(Self.keys.unknown(in:)) {
      throw StoreError(.invalidIndexSpec, "index spec \(position + 1): '\(unknown.key)' \(unknown.complaint)")
    }
    guard let path = json["path"]?.stringValue else {
      throw StoreError(.invalidIndexSpec, "index spec \(position + 1): 'path' must be a string")
    }
    guard let word = json["type"]?.stringValue else {
      throw StoreError(.invalidIndexSpec, "index spec \(position + 1) (\(path)): 'type' must be a string")
    }
    guard let type = IndexType(rawValue: word) else {
      let hint = NearestName.hint(for: word, among: IndexType.allCases.map(\.rawValue).sorted())
      throw StoreError(.invalidIndexSpec, "index spec \(position + 1) (\(path)): unknown type '\(word)'\(hint)")
    }
    self.init(path: path, type: type)
  }

  public static func list(_ json: JSONValue) throws(StoreError) -> [IndexSpec] {
    guard let elements = json.arrayValue else {
      throw StoreError(.invalidIndexSpec, "index specs must be an array, got \(json.kindName)")
    }
    var specs: [IndexSpec] = []
    for (i, element) in elements.enumerated() { specs.append(try IndexSpec(element, position: i)) }
    return specs
  }

  public var json: JSONValue { ["path": .string(path), "type": .string(type.rawValue)] }

  /// Whether the subscripts are valid. SQLite checks a subscript only when it meets an array.
  /// Brackets inside double quotes are part of a name.
  package var hasGoodSubscripts: Bool {
    let parts = path.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
    return parts.enumerated().filter { $0.offset % 2 == 0 }.allSatisfy { part in
      part.element.split(separator: UInt8(ascii: "["), omittingEmptySubsequences: false).dropFirst().allSatisfy { rest in
        guard let close = rest.firstIndex(of: UInt8(ascii: "]")) else { return false }
        let inside = rest[..<close], digits = inside.starts(with: "#-".utf8) ? inside.dropFirst(2) : inside
        return inside.elementsEqual("#".utf8) || !digits.isEmpty && digits.allSatisfy(\.isASCIIDigit)
      }
    }
  }

  /// Bytes of a path. It is part of every statement that reads it, and SQLite limits their length.
  package static let longestPath = 10_000

  /// Returns the first character of the path that smart SQL or a JSON path would read as something else; nil if there is none.
  /// A json1 path may have names in double quotes.
  private var reservedCharacter: Character? {
    let names = type == .json1 ? withoutQuotedNames : path[...]
    return names.first { "{}\"\\".contains($0) } ?? path.first { "{}\\".contains($0) }
  }

  /// The path without the names in double quotes that begin and end where a name does.
  private var withoutQuotedNames: Substring {
    var rest = path[...], result = ""
    while let open = rest.firstIndex(of: "\"") {
      let inside = rest[rest.index(after: open)...]
      let before = open == path.startIndex ? "." : path[path.index(before: open)]
      guard before == ".", let close = inside.firstIndex(of: "\""), close > inside.startIndex,
        [".", "[", nil].contains(inside[inside.index(after: close)...].first)
      else { break }
      result += rest[..<open]
      rest = inside[inside.index(after: close)...]
    }
    return (result + rest)[...]
  }

  /// Throws unless the specs can be registered.
  /// - Parameter known: Specs that the soup has already; an earlier release may have taken them.
  package static func validate(_ specs: [IndexSpec], soup: String, known: [IndexSpec] = []) throws(StoreError) {
    guard !specs.isEmpty else { throw StoreError(.invalidIndexSpec, "No indexSpecs specified for soup: \(soup)") }
    var seen = IdSet()
    for spec in specs {
      let path = spec.path
      guard !path.isEmpty, !path.utf8.contains(where: { $0 == UInt8(ascii: "'") || $0 < UInt8(ascii: " ") }) else {
        throw StoreError(
          .invalidIndexSpec, "path '\(path)' of soup \(soup): a path must not be empty or contain quotes or control characters")
      }
      guard path.utf8.count <= longestPath else {
        throw StoreError(
          .invalidIndexSpec,
          "path '\(path.prefix(100))…' of soup \(soup) has \(path.utf8.count) bytes; \(longestPath) is the limit")
      }
      if let character = spec.reservedCharacter, !known.contains(spec) {
        throw StoreError(
          .invalidIndexSpec, "path '\(path)' of soup \(soup): '\(character)' cannot be part of a path that is indexed")
      }
      guard !JSONWalker.isTooDeep(path) else {
        throw StoreError(
          .invalidIndexSpec,
          "path '\(path.prefix(100))…' of soup \(soup): a path can have \(JSONWalker.maximumDepth) names at most")
      }
      guard seen.insert(path).inserted else {
        throw StoreError(.invalidIndexSpec, "path '\(path)' of soup \(soup) is indexed twice; list each path once")
      }
    }
  }
}
