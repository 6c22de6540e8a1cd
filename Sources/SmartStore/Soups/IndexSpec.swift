import JSON
import RecordScan
import Support

/// How the values at a path are indexed.
public enum IndexType: String, CaseIterable, Sendable {
  case string, integer, floating, json1
  case fullText = "full_text"
}

/// A path and a type that make a field of a soup's entries queryable.
public struct IndexSpec: Sendable, Equatable {
  public let path: String
  public let type: IndexType

  public init(path: String, type: IndexType) {
    self.path = path
    self.type = type
  }

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

  /// Throws unless the specs can be registered.
  package static func validate(_ specs: [IndexSpec], soup: String) throws(StoreError) {
    guard !specs.isEmpty else { throw StoreError(.invalidIndexSpec, "No indexSpecs specified for soup: \(soup)") }
    var seen = Set<String>()
    for spec in specs {
      let path = spec.path
      guard !path.isEmpty, !path.utf8.contains(where: { $0 == UInt8(ascii: "'") || $0 < UInt8(ascii: " ") }) else {
        throw StoreError(
          .invalidIndexSpec, "path '\(path)' of soup \(soup): a path must not be empty or contain quotes or control characters")
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
