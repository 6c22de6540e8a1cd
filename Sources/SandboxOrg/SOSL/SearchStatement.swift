/// A parsed SOSL statement. Nothing in it has been looked up yet.
struct SearchStatement {
  enum Scope: String, CaseIterable { case ALL, NAME, EMAIL, PHONE, SIDEBAR }

  var expression: SearchExpression
  var scope = Scope.ALL
  /// nil asks for the ids of every searchable object.
  var returning: [Returned]?
  var limit: Int?
  /// `WITH METADATA`: labels of the returned fields come with the records.
  var wantsLabels = false

  /// One object of RETURNING.
  struct Returned {
    let object: Name
    /// Selection, condition, order, limit and offset.
    var query: SOQLQuery
  }
}

/// What is searched for.
indirect enum SearchExpression: Equatable {
  /// May hold `*` and `?`.
  case word(String)
  case phrase(String)
  case all([SearchExpression])
  case any([SearchExpression])
  /// The first, but not the second.
  case except(SearchExpression, SearchExpression)
  /// Longer than what a real org looks at.
  case nothing
}
