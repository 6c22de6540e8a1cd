/// Objects that cannot be queried without a filter by id.
enum QueryRestriction {
  /// The fields of which one must be compared with ids, by object. Source: Salesforce's object
  /// reference.
  private static let filters: [String: Set<String>] = ["ContentDocumentLink": ["id", "contentdocumentid", "linkedentityid"]]

  static func check(_ condition: Condition?, _ object: ObjectSchema, at position: Int) throws(SOQLError) {
    guard let fields = filters[object.name], !names(fields, condition) else { return }
    throw .malformed(
      "Implementation restriction: \(object.name) requires a filter by a single Id on ContentDocumentId or LinkedEntityId "
        + "using the equals operator or multiple Id's using the IN operator.", at: position)
  }

  private static func names(_ fields: Set<String>, _ condition: Condition?) -> Bool {
    switch condition {
    case .all(let terms)?: return terms.contains { names(fields, $0) }
    case .comparison(.field(let path), .equal, _)?, .membership(.field(let path), isNegated: false, _)?,
      .semiJoin(.field(let path), isNegated: false, _)?:
      return path.names.last.map { fields.contains($0.text.lowercased()) } ?? false
    default: return false
    }
  }
}
