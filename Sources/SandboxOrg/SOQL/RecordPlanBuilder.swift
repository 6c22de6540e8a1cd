/// Collects the fields of a SELECT list into columns and their nested structure.
struct RecordPlanBuilder {
  private enum Entry {
    case item(RecordPlan.Item)
    case parent(node: Int)
  }

  private(set) var graph: JoinGraph
  private var columns: [String] = []
  /// The fields of each node of the graph, in order of first mention.
  private var entries: [Int: [Entry]] = [:]
  private var branches: [Int: [(prefix: String, items: [RecordPlan.Item])]] = [:]
  private var idColumns: [Int: Int32] = [:]
  private var seen: Set<String> = []

  init(graph: JoinGraph) {
    self.graph = graph
    idColumns[0] = column(graph.nodes[0].idExpression)
  }

  /// - Parameters:
  ///   - alias: Replaces the field's name as the key.
  ///   - isDisplayed: Renders the value like FORMAT.
  mutating func add(_ path: FieldPath, alias: String? = nil, isDisplayed: Bool = false) throws(SOQLError) {
    let resolved = try graph.resolve(path)
    let name = alias ?? resolved.field.name
    guard seen.insert("\(resolved.node).\(name.lowercased())").inserted else {
      throw SOQLError(code: "INVALID_FIELD", message: "duplicate field selected: \(path.text)")
    }
    mention(resolved.node)
    let column =
      resolved.field.type == .id ? idColumns[resolved.node] ?? 0 : column(readable(resolved.field, resolved.expression))
    let form = isDisplayed ? resolved.field.displayForm : resolved.field.form
    entries[resolved.node, default: []].append(.item(.field(name: name, column: column, form)))
  }

  /// Adds a computed expression of the queried object under its own name.
  mutating func add(_ operand: Operand, name: String) throws(SOQLError) {
    guard seen.insert("0.\(name.lowercased())").inserted else {
      throw SOQLError(code: "INVALID_FIELD", message: "duplicate field selected: \(name)")
    }
    entries[0, default: []].append(.item(.field(name: name, column: column(operand.sql), operand.form)))
  }

  mutating func add(_ children: ChildPlan, name: String) throws(SOQLError) {
    guard seen.insert("0.\(name.lowercased())").inserted else {
      throw SOQLError(code: "INVALID_FIELD", message: "duplicate field selected: \(name)")
    }
    entries[0, default: []].append(.item(.children(name: name, children)))
  }

  mutating func add(_ typeOf: TypeOf) throws(SOQLError) {
    let node = try graph.node(at: typeOf.relationship)
    let tables = graph.nodes[node].tables
    guard tables.count > 1 else {
      throw .malformed(
        "TYPEOF needs a relationship to several objects: \(typeOf.relationship.text)", at: typeOf.relationship.position)
    }
    guard idColumns[node] == nil else {
      throw SOQLError(code: "INVALID_FIELD", message: "duplicate field selected: \(typeOf.relationship.text)")
    }
    mention(node)
    var found: [(prefix: String, items: [RecordPlan.Item])] = []
    for branch in typeOf.branches {
      guard let type = tables.firstIndex(where: { $0.object.name.lowercased() == branch.type.text.lowercased() }) else {
        throw .noObject(branch.type)
      }
      var items: [RecordPlan.Item] = []
      for path in branch.paths {
        let (sql, field) = try graph.resolve(path, from: node, in: type)
        items.append(.field(name: field.name, column: column(readable(field, sql)), field.form))
      }
      found.append((tables[type].object.keyPrefix, items))
    }
    branches[node] = found
    for path in typeOf.otherwise ?? [] { try add(FieldPath(names: typeOf.relationship.names + path.names)) }
  }

  func plan() -> RecordPlan {
    let sql = "SELECT \(columns.joined(separator: ", ")) \(graph.fromClause) WHERE \(graph.rootAlias).rowid = ?"
    return RecordPlan(sql: sql, root: node(0))
  }

  /// Adds a node and its ancestors to their parents' lists, once.
  private mutating func mention(_ node: Int) {
    guard node != 0, idColumns[node] == nil else { return }
    mention(graph.nodes[node].parent)
    idColumns[node] = column(graph.nodes[node].idExpression)
    entries[graph.nodes[node].parent, default: []].append(.parent(node: node))
  }

  /// Reads only the length of binary fields: their path is rendered if it is not zero.
  private func readable(_ field: FieldSchema, _ expression: String) -> String {
    field.type == .base64 ? "length(\(expression))" : expression
  }

  private mutating func column(_ expression: String) -> Int32 {
    columns.append(expression)
    return Int32(columns.count - 1)
  }

  private func node(_ index: Int) -> RecordPlan.RecordNode {
    let items = (entries[index] ?? []).map { entry -> RecordPlan.Item in
      switch entry {
      case .item(let item): return item
      case .parent(let child): return .parent(name: graph.nodes[child].relationship, node(child))
      }
    }
    let types = graph.nodes[index].tables.map { (prefix: $0.object.keyPrefix, name: $0.object.name) }
    return RecordPlan.RecordNode(
      types: types, idColumn: idColumns[index] ?? 0, items: items, branches: branches[index] ?? [])
  }
}
