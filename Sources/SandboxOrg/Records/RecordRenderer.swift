import Database
import JSON

/// Writes rows as JSON straight from SQLite's columns: no value is built on the way.
struct RecordRenderer {
  private indirect enum Item {
    case field(key: [UInt8], column: Int32, JSONForm)
    case parent(key: [UInt8], Node)
  }
  private struct Node {
    /// `{"attributes":{"type":"Contact","url":"/services/data/v66.0/sobjects/Contact/`, by id prefix.
    let heads: [(prefix: [UInt8], text: [UInt8])]
    let idColumn: Int32
    let items: [Item]
  }

  private let root: Node

  /// - Parameter version: The API version of the request, such as `v66.0`: URLs repeat it.
  init(_ plan: RecordPlan, version: String) { root = Self.node(plan.root, version: version) }

  private static func node(_ node: RecordPlan.RecordNode, version: String) -> Node {
    let heads = node.types.map { type in
      let text = "{\"attributes\":{\"type\":\"\(type.name)\",\"url\":\"/services/data/\(version)/sobjects/\(type.name)/"
      return (prefix: Array(type.prefix.utf8), text: Array(text.utf8))
    }
    let items = node.items.map { item -> Item in
      switch item {
      case .field(let name, let column, let form): return .field(key: Array(",\"\(name)\":".utf8), column: column, form)
      case .parent(let name, let child):
        return .parent(key: Array(",\"\(name)\":".utf8), Self.node(child, version: version))
      }
    }
    return Node(heads: heads, idColumn: node.idColumn, items: items)
  }

  /// Appends the row `statement` stands on.
  func append(_ statement: Statement, to out: inout [UInt8]) { append(root, statement, &out) }

  private func append(_ node: Node, _ row: Statement, _ out: inout [UInt8]) {
    let id = row.bytes(node.idColumn)
    guard id.count > 0 else {
      out.append(contentsOf: Self.null)
      return
    }
    let head = node.heads.first { $0.prefix.elementsEqual(id.prefix(3)) } ?? node.heads[0]
    out.append(contentsOf: head.text)
    out.append(contentsOf: id)
    out.append(contentsOf: Self.headEnd)
    for item in node.items {
      switch item {
      case .field(let key, let column, let form):
        out.append(contentsOf: key)
        Self.append(row, column, form, to: &out)
      case .parent(let key, let child):
        out.append(contentsOf: key)
        append(child, row, &out)
      }
    }
    out.append(0x7D)
  }

  private static let null = Array("null".utf8), headEnd = Array("\"}".utf8)
  private static let trueText = Array("true".utf8), falseText = Array("false".utf8)

  /// Appends one column of the row a statement stands on.
  static func append(_ row: Statement, _ column: Int32, _ form: JSONForm, to out: inout [UInt8]) {
    // Flags of a row that is there are never null.
    if form == .boolean {
      out.append(contentsOf: row.int64(column) != 0 ? trueText : falseText)
      return
    }
    guard !row.isNull(column) else {
      out.append(contentsOf: null)
      return
    }
    switch form {
    case .plainText:
      out.append(0x22)
      out.append(contentsOf: row.bytes(column))
      out.append(0x22)
    case .text: appendQuoted(row.bytes(column), to: &out)
    case .integer, .boolean: out.append(contentsOf: "\(row.int64(column))".utf8)
    case .real: JSONText.append(row.double(column), to: &out)
    }
  }

  /// Copies whole when nothing needs an escape, which is almost always.
  private static func appendQuoted(_ text: UnsafeRawBufferPointer, to out: inout [UInt8]) {
    out.append(0x22)
    if text.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C }) {
      JSONText.appendEscaped(text.assumingMemoryBound(to: UInt8.self), to: &out)
    } else {
      out.append(contentsOf: text)
    }
    out.append(0x22)
  }
}
