import Database

/// Compiles `Id IN (SELECT AccountId FROM Contact WHERE …)` and its negation.
extension ConditionTranslator {
  mutating func semiJoin(
    _ subject: Expression, isNegated: Bool, _ join: SemiJoin, underOr: Bool
  ) throws(SOQLError) -> String {
    try checkPlace(of: join, underOr: underOr)
    guard case .field(let path) = subject, let rows = source as? RowOperands else {
      throw .malformed("The left operand field in the where expression should be an id or reference field", at: subject.position)
    }
    var graph = rows.graph
    let column = try graph.resolve(path)
    guard column.field.type.isReference, !column.isThroughParent else {
      throw .malformed("The left operand field in the where expression should be an id or reference field", at: path.position)
    }
    guard let object = schema.object(join.object.text) else { throw .noObject(join.object) }
    guard object.name != graph.root.name else {
      throw .malformed("The inner and outer selects should not be on the same object type", at: join.position)
    }
    let (select, values) = try selected(
      join, object, wanted: column.field.type == .id ? [graph.root.name] : column.field.referenceTo)
    bindings += values
    return isNegated ? "((\(column.expression) IN (\(select))) IS NOT TRUE)" : "\(column.expression) IN (\(select))"
  }

  /// Returns the SQL of the sub-select, without null ids, which match nothing.
  private func selected(
    _ join: SemiJoin, _ object: ObjectSchema, wanted: [String]
  ) throws(SOQLError) -> (sql: String, bindings: [SQLValue]) {
    var inner = ConditionTranslator<RowOperands>(
      schema: schema, today: today,
      source: RowOperands(graph: JoinGraph(object, schema: schema, prefix: "s\(semiJoins)_")))
    inner.allowsSemiJoins = false
    let selected = try inner.source.graph.resolve(join.path)
    let targets = selected.field.type == .id ? [object.name] : selected.field.referenceTo
    guard selected.field.type.isReference, !selected.isThroughParent, !Set(targets).isDisjoint(with: wanted) else {
      throw .malformed("The inner select field '\(join.path.text)' cannot be joined with the outer one", at: join.path.position)
    }
    var condition = ""
    if let terms = join.condition { condition = " AND \(try inner.sql(terms))" }
    let graph = inner.source.graph
    let sql =
      "SELECT \(selected.expression) \(graph.fromClause) WHERE \(graph.rootAlias).\"IsDeleted\" = 0"
      + " AND \(selected.expression) IS NOT NULL\(condition)"
    return (sql, inner.bindings)
  }

  private mutating func checkPlace(of join: SemiJoin, underOr: Bool) throws(SOQLError) {
    if !allowsSemiJoins { throw .malformed("Nesting of semi join sub-selects is not supported", at: join.position) }
    if underOr {
      throw .malformed("Semi join sub-selects are not allowed with the 'OR' operator", at: join.position)
    }
    semiJoins += 1
    if semiJoins > 2 { throw .malformed("Maximum 2 semi join sub-selects are allowed", at: join.position) }
  }
}
