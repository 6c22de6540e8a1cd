import RecordScan
import Support

/// The path to a value in a response or an item: `$`, `a.b.0`, `links[rel=next].href`,
/// `labels[*].name`, `/@odata.nextLink`, `header:Next-Page`.
struct ValuePath: Sendable, Equatable {
  /// The path as written.
  let text: String
  let origin: Origin

  enum Origin: Sendable, Equatable {
    case body([PathStep])
    /// Applies `rest` to each element of the array at `list`; the value is an array of the results.
    case each(list: [PathStep], rest: [PathStep])
    /// A header of the same response.
    case header(String)
  }

  /// The path forms that a key accepts in addition to plain paths.
  struct Forms: OptionSet, Sendable {
    let rawValue: Int
    /// `header:Name`, for keys that are read from a page or a response.
    static let header = Forms(rawValue: 1)
    /// `a[*].b`, for sources in `map` and `fields`.
    static let each = Forms(rawValue: 2)
  }

  /// Why a text is not a valid path: a phrase to append to the text.
  struct Problem: Error, Sendable, Equatable {
    let description: String
    init(_ description: String) { self.description = description }
  }

  init(text: String, origin: Origin) {
    self.text = text
    self.origin = origin
  }

  /// - Throws: ``Problem``.
  init(_ text: String, taking forms: Forms = []) throws(Problem) {
    self.text = text
    guard !JSONWalker.isTooDeep(text, separators: "./") else {
      throw Problem("has more than \(JSONWalker.maximumDepth) steps")
    }
    if text.hasPrefix("header:") {
      origin = .header(try ValuePath.headerName(text, forms))
    } else if text.hasPrefix("/") {
      origin = .body(try ValuePath.pointer(text))
    } else {
      origin = try ValuePath.dotted(text, forms)
    }
  }

  /// The steps from the root of the body; nil for a header and for a path with `[*]`.
  var steps: [PathStep]? { if case .body(let steps) = origin { steps } else { nil } }

  var headerName: String? { if case .header(let name) = origin { name } else { nil } }

  /// The key of a path that consists of one member of the root, such as `name`.
  var singleKey: String? {
    guard case .body(let steps) = origin, steps.count == 1, case .member(let key, _) = steps[0] else { return nil }
    return String(decoding: key, as: UTF8.self)
  }

  /// The keys of a path that only goes through members; nil if a step may be an array index.
  var keys: [[UInt8]]? {
    guard case .body(let steps) = origin else { return nil }
    let keys = steps.prefixOfKeys
    return keys.count == steps.count ? keys : nil
  }

  private static func headerName(_ text: String, _ forms: Forms) throws(Problem) -> String {
    guard forms.contains(.header) else { throw Problem("cannot be a header: it is read from the body") }
    let name = String(text.dropFirst("header:".count))
    let isToken = name.utf8.allSatisfy { byte in
      (0x21...0x7e).contains(byte) && !"\"(),/:;<=>?@[\\]{}".utf8.contains(byte)
    }
    guard !name.isEmpty, isToken else { throw Problem("has no valid header name after 'header:'") }
    return name
  }

  /// Parses a JSON pointer (RFC 6901).
  private static func pointer(_ text: String) throws(Problem) -> [PathStep] {
    var steps: [PathStep] = []
    for token in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      var name: [UInt8] = [], bytes = token.utf8[...]
      while let byte = bytes.popFirst() {
        guard byte == UInt8(ascii: "~") else {
          name.append(byte)
          continue
        }
        switch bytes.popFirst() {
        case UInt8(ascii: "0"): name.append(UInt8(ascii: "~"))
        case UInt8(ascii: "1"): name.append(UInt8(ascii: "/"))
        default: throw Problem("has a '~' that is neither '~0' nor '~1'")
        }
      }
      steps.append(member(name))
    }
    return steps
  }

  private static func member(_ name: [UInt8]) -> PathStep {
    let isPosition = !name.isEmpty && name.count < 10 && name.allSatisfy(\.isASCIIDigit)
    guard isPosition, name.count == 1 || name[0] != UInt8(ascii: "0") else { return .member(name, index: nil) }
    return .member(name, index: name.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) })
  }

  private static func dotted(_ text: String, _ forms: Forms) throws(Problem) -> Origin {
    var reader = DottedPathReader(text), list: [PathStep]?, steps: [PathStep] = []
    while let part = try reader.next() {
      switch part {
      case .name(let name): steps.append(member(name))
      case .match(let key, let value): steps.append(.firstElement(key: key, text: value))
      case .each:
        guard forms.contains(.each) else { throw Problem("cannot have '[*]' here: the key takes one value") }
        guard list == nil else { throw Problem("has '[*]' twice") }
        list = steps
        steps = []
      }
    }
    return list.map { .each(list: $0, rest: steps) } ?? .body(steps)
  }
}

extension [PathStep] {
  /// The keys of the steps up to the first one that may go into an array.
  var prefixOfKeys: [[UInt8]] {
    var keys: [[UInt8]] = []
    for step in self {
      guard case .member(let key, index: nil) = step else { break }
      keys.append(key)
    }
    return keys
  }
}

/// Parses a dotted path part by part. A dot always separates, except in brackets.
private struct DottedPathReader {
  enum Part {
    case name([UInt8])
    case match(key: [UInt8], value: [UInt8])
    case each
  }

  private let bytes: [UInt8]
  private var position = 0

  init(_ text: String) { bytes = Array(text.utf8) }

  private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func next() throws(ValuePath.Problem) -> Part? {
    if position == 0 {
      if bytes.isEmpty { throw ValuePath.Problem("is empty; '$' is the root") }
      // '$' is the root; a member of that name is written '/$'.
      if current == UInt8(ascii: "$"), bytes.count == 1 || bytes[1] == UInt8(ascii: ".") || bytes[1] == UInt8(ascii: "[") {
        position = 1
      } else if current != UInt8(ascii: "[") {
        return .name(try name())
      }
    }
    switch current {
    case nil: return nil
    case UInt8(ascii: "["): return try bracket()
    case UInt8(ascii: "."):
      position += 1
      return .name(try name())
    default: throw ValuePath.Problem("lacks a dot after ']'")
    }
  }

  private mutating func name() throws(ValuePath.Problem) -> [UInt8] {
    let start = position
    while let byte = current, byte != UInt8(ascii: "."), byte != UInt8(ascii: "[") {
      guard byte != UInt8(ascii: "]") else { throw ValuePath.Problem("has a ']' without '['") }
      position += 1
    }
    guard position > start else { throw ValuePath.Problem("has an empty step") }
    return Array(bytes[start..<position])
  }

  private mutating func bracket() throws(ValuePath.Problem) -> Part {
    guard let end = bytes[position...].firstIndex(of: UInt8(ascii: "]")) else {
      throw ValuePath.Problem("has a '[' without ']'")
    }
    let inside = bytes[(position + 1)..<end]
    position = end + 1
    if inside.elementsEqual([UInt8(ascii: "*")]) { return .each }
    guard let mark = inside.firstIndex(of: UInt8(ascii: "=")), mark > inside.startIndex else {
      let shown = String(decoding: inside, as: UTF8.self)
      throw ValuePath.Problem("has '[\(shown)]', which is neither '[key=value]' nor '[*]'; an index is written '.0'")
    }
    return .match(key: Array(inside[..<mark]), value: Array(inside[(mark + 1)...]))
  }
}
