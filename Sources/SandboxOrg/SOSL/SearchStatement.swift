/// A parsed SOSL statement whose names have not been resolved yet.
struct SearchStatement {
  enum Scope: String, CaseIterable { case ALL, NAME, EMAIL, PHONE, SIDEBAR }

  var expression: SearchExpression
  var scope = Scope.ALL
  /// nil returns the ids of all searchable objects.
  var returning: [Returned]?
  var limit: Int?
  /// `WITH METADATA`: adds the labels of the returned fields.
  var wantsLabels = false

  /// An object of RETURNING.
  struct Returned {
    let object: Name
    /// The selection, condition, order, limit and offset.
    var query: SOQLQuery
  }
}

/// A search expression.
indirect enum SearchExpression: Equatable {
  /// May contain `*` and `?`.
  case word(String)
  case phrase(String)
  case all([SearchExpression])
  case any([SearchExpression])
  /// Matches the first but not the second.
  case except(SearchExpression, SearchExpression)
  /// Longer than a real org evaluates.
  case nothing

  /// The maximum number of symbols on the stack of FTS5's parser: each parenthesis is one, and
  /// each operand after the first waits behind two more.
  var parserDepth: Int {
    switch self {
    case .nothing: 0
    case .word, .phrase: Self.termDepth
    case .all(let terms), .any(let terms):
      1 + (terms.enumerated().map { ($0.offset == 0 ? 0 : 2) + $0.element.parserDepth }.max() ?? 0)
    case .except(let term, let excluded): 1 + max(term.parserDepth, 2 + excluded.parserDepth)
    }
  }

  /// Of a word whose parts have alternatives: `(part AND (a OR b))`.
  private static let termDepth = 10
}
