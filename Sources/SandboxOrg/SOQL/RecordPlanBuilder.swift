/// Collects the fields of a SELECT list into columns and the nested shape they are written in.
struct RecordPlanBuilder {
  private enum Entry {
    case field(name: String, column: Int32, JSONForm)
    case parent(node: Int)
  }

  private var graph: JoinGraph
  private var columns: [String] = []
  /// What each node of the graph shows, in order of first mention.
  private var entries: [Int: [Entry]] = [:]
  private var idColumns: [Int: Int32] = [:]
  private var seen: Set<String> = []

  init(graph: JoinGraph) {
    self.graph = graph
    idColumns[0] = column(graph.nodes[0].idExpression)
  }

  mutating func add(_ path: FieldPath) throws(SOQLError) {
    let resolved = try graph.resolve(path)
    guard seen.insert("\(resolved.node).\(resolved.field.name)").inserted else {
      throw SOQLError(code: "INVALID_FIELD", message: "duplicate field selected: \(path.text)")
    }
    mention(resolved.node)
    let column = resolved.field.type == .id ? idColumns[resolved.node] ?? 0 : column(resolved.expression)
    entries[resolved.node, default: []].append(.field(name: resolved.field.name, column: column, resolved.field.form))
  }

  func plan() -> RecordPlan {
    let sql = "SELECT \(columns.joined(separator: ", ")) \(graph.fromClause) WHERE \(graph.rootAlias).rowid = ?"
    return RecordPlan(sql: sql, root: node(0))
  }

  /// Enters a node, and the nodes on the way to it, into its parent's list once.
  private mutating func mention(_ node: Int) {
    guard node != 0, idColumns[node] == nil else { return }
    mention(graph.nodes[node].parent)
    idColumns[node] = column(graph.nodes[node].idExpression)
    entries[graph.nodes[node].parent, default: []].append(.parent(node: node))
  }

  private mutating func column(_ expression: String) -> Int32 {
    columns.append(expression)
    return Int32(columns.count - 1)
  }

  private func node(_ index: Int) -> RecordPlan.RecordNode {
    let items = (entries[index] ?? []).map { entry -> RecordPlan.Item in
      switch entry {
      case .field(let name, let column, let form): return .field(name: name, column: column, form)
      case .parent(let child): return .parent(name: graph.nodes[child].relationship, node(child))
      }
    }
    let types = graph.nodes[index].tables.map { (prefix: $0.object.keyPrefix, name: $0.object.name) }
    return RecordPlan.RecordNode(types: types, idColumn: idColumns[index] ?? 0, items: items)
  }
}
