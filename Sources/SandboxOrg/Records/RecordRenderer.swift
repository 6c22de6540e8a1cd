import Database
import JSON

/// Renders rows as JSON directly from SQLite's columns, without intermediate values.
struct RecordRenderer {
  private indirect enum Item {
    case field(key: [UInt8], column: Int32, JSONForm)
    case parent(key: [UInt8], Node)
    case children(key: [UInt8], ChildRenderer)
    /// The URL path of a binary field; `end` is its last part, the field's name.
    case bytes(key: [UInt8], column: Int32, end: [UInt8])
  }
  private struct Node {
    /// The start `{"attributes":{"type":"Contact","url":"/services/data/v66.0/sobjects/Contact/` by
    /// id prefix. `path` is the part of `text` from `/services` on.
    let heads: [(prefix: [UInt8], text: [UInt8], path: [UInt8])]
    let idColumn: Int32
    let items: [Item]
    let branches: [(prefix: [UInt8], items: [Item])]
  }

  private let root: Node

  /// - Throws: SQLite's error for the statement of a child query.
  init(_ plan: RecordPlan, _ context: RenderContext) throws { root = try Self.node(plan.root, context) }

  private static func node(_ node: RecordPlan.RecordNode, _ context: RenderContext) throws -> Node {
    let heads = node.types.map { type in
      let path = "/services/data/\(context.version)/sobjects/\(type.name)/"
      let text = "{\"attributes\":{\"type\":\"\(type.name)\",\"url\":\"\(path)"
      return (prefix: Array(type.prefix.utf8), text: Array(text.utf8), path: Array(path.utf8))
    }
    return Node(
      heads: heads, idColumn: node.idColumn, items: try items(node.items, context),
      branches: try node.branches.map { (Array($0.prefix.utf8), try items($0.items, context)) })
  }

  private static func items(_ items: [RecordPlan.Item], _ context: RenderContext) throws -> [Item] {
    try items.map { item in
      switch item {
      case .field(let name, let column, .bytes):
        return .bytes(key: key(name), column: column, end: Array("/\(name)\"".utf8))
      case .field(let name, let column, let form): return .field(key: key(name), column: column, form)
      case .parent(let name, let child): return .parent(key: key(name), try node(child, context))
      case .children(let name, let plan): return .children(key: key(name), try ChildRenderer(plan, context))
      }
    }
  }

  private static func key(_ name: String) -> [UInt8] { Array(",\"\(name)\":".utf8) }

  /// Appends the current row of `statement`.
  func append(_ statement: Statement, to out: inout [UInt8]) throws { try append(root, statement, &out) }

  private func append(_ node: Node, _ row: Statement, _ out: inout [UInt8]) throws {
    let id = row.bytes(node.idColumn)
    guard id.count > 0 else {
      out.append(contentsOf: ValueText.null)
      return
    }
    let head = node.heads.count == 1 ? node.heads[0] : node.heads.first { $0.prefix.elementsEqual(id.prefix(3)) } ?? node.heads[0]
    out.append(contentsOf: head.text)
    out.append(contentsOf: id)
    out.append(contentsOf: Self.headEnd)
    let branch = node.branches.isEmpty ? nil : node.branches.first { $0.prefix.elementsEqual(id.prefix(3)) }
    for item in branch?.items ?? node.items {
      switch item {
      case .field(let key, let column, let form):
        out.append(contentsOf: key)
        ValueText.append(row, column, form, to: &out)
      case .parent(let key, let child):
        out.append(contentsOf: key)
        try append(child, row, &out)
      case .children(let key, let children):
        out.append(contentsOf: key)
        try children.append(parentId: id, to: &out)
      case .bytes(let key, let column, let end):
        out.append(contentsOf: key)
        guard !row.isNull(column) else {
          out.append(contentsOf: ValueText.null)
          continue
        }
        out.append(UInt8(ascii: "\""))
        out.append(contentsOf: head.path)
        out.append(contentsOf: id)
        out.append(contentsOf: end)
      }
    }
    out.append(UInt8(ascii: "}"))
  }

  private static let headEnd = Array("\"}".utf8)
}

/// The request's data for rendering, and where further pages of child rows are stored.
struct RenderContext {
  let org: Org
  /// The API version of the request, such as `v66.0`; URLs repeat it.
  let version: String
  var userId = ""
  /// Rows per page, also of nested results.
  var pageSize = Tuning.maximumPageSize
}

/// Renders the rows of a child query as a nested result.
final class ChildRenderer {
  private let plan: ChildPlan
  private let context: RenderContext
  private let rows: Statement
  private let record: Statement
  private let renderer: RecordRenderer

  init(_ plan: ChildPlan, _ context: RenderContext) throws {
    self.plan = plan
    self.context = context
    rows = try QueryRunner.prepared(plan.sql, on: context.org)
    record = try QueryRunner.prepared(plan.record.sql, on: context.org)
    renderer = try RecordRenderer(plan.record, context)
    for (index, value) in plan.bindings.enumerated() { rows.bind(Int32(index + 2), value) }
  }

  /// - Parameter id: The parent's id, valid until its statement advances.
  func append(parentId id: UnsafeRawBufferPointer, to out: inout [UInt8]) throws {
    let found = try children(of: id)
    guard !found.isEmpty else {
      out.append(contentsOf: ValueText.null)
      return
    }
    let shown = min(found.count, context.pageSize)
    out.append(contentsOf: "{\"totalSize\":\(found.count),\"done\":\(shown == found.count)".utf8)
    if shown < found.count {
      let cursor = CursorTable.Cursor(plan: plan.record, rows: found, userId: context.userId, isNested: true)
      let id = context.org.openCursor(cursor)
      out.append(contentsOf: ",\"nextRecordsUrl\":\"/services/data/\(context.version)/query/\(id)-\(shown)\"".utf8)
    }
    out.append(contentsOf: ",\"records\":[".utf8)
    try renderer.append(found[..<shown], with: record, to: &out)
    out.append(contentsOf: "]}".utf8)
  }

  private func children(of id: UnsafeRawBufferPointer) throws -> [Int64] {
    rows.bind(1, text: id)
    defer { rows.reset() }
    var found: [Int64] = []
    while try rows.step() { found.append(rows.int64(0)) }
    return found
  }
}

extension RecordRenderer {
  /// Appends the rows with these rowids, separated by commas and read through `statement`. Rows
  /// that no longer exist are skipped.
  func append(_ rows: ArraySlice<Int64>, with statement: Statement, to out: inout [UInt8]) throws {
    var isFirst = true
    for row in rows {
      statement.bind(1, row)
      if try statement.step() {
        if !isFirst { out.append(UInt8(ascii: ",")) }
        isFirst = false
        try append(statement, to: &out)
      }
      statement.reset()
    }
  }
}
