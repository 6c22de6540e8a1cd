import Support

/// Finds the placeholders of a query that are compared with columns: `column = ?`, `? = column`, `column IN (?, ?)`.
struct ComparedPlaceholders {
  private let tokens: [SQLToken]

  init(_ tokens: [SQLToken]) { self.tokens = tokens }

  /// Returns the placeholders, counted from 0, that are compared with one of the columns. Names of placeholders are
  /// not known here: a query that has some gives an empty set.
  /// - Parameter columns: In lower case.
  func indexes(comparedWith columns: IdSet) -> Set<Int> {
    guard !columns.isEmpty, !tokens.contains(where: { token in [":", "@", "$"].contains { token.isSign($0) } }) else { return [] }
    var found: Set<Int> = [], next = 0
    for (i, token) in tokens.enumerated() where token.isSign("?") {
      let given = i + 1 < tokens.count && !tokens[i + 1].isQuoted ? Int(tokens[i + 1].text) : nil
      let index = given.map { $0 - 1 } ?? next
      next = max(next, index + 1)
      if isCompared(i, after: i + (given == nil ? 1 : 2), with: columns) { found.insert(index) }
    }
    return found
  }

  private func isCompared(_ i: Int, after end: Int, with columns: IdSet) -> Bool {
    let left = tokens[..<i].lastIndex { !isComparison($0) }, right = tokens[end...].firstIndex { !isComparison($0) }
    if let left, left < i - 1, isOne(of: columns, left) { return true }
    if let right, right > end, isOne(of: columns, right) || isSign(".", right + 1) && isOne(of: columns, right + 2) {
      return true
    }
    guard let open = tokens[..<i].lastIndex(where: { !isListed($0) }), tokens[open].isSign("("), open > 1 else { return false }
    guard tokens[open - 1].isWord("in") else { return false }
    return isOne(of: columns, open - (tokens[open - 2].isWord("not") ? 3 : 2))
  }

  private func isOne(of columns: IdSet, _ i: Int) -> Bool { tokens.indices.contains(i) && columns.contains(tokens[i].text) }

  private func isSign(_ sign: String, _ i: Int) -> Bool { tokens.indices.contains(i) && tokens[i].isSign(sign) }

  private func isComparison(_ token: SQLToken) -> Bool {
    ["=", "<", ">", "!", "is", "not"].contains { token.isWord($0) }
  }

  /// Whether a token can stand in a list of values.
  private func isListed(_ token: SQLToken) -> Bool {
    token.isQuoted || token.isSign("?") || token.isSign(",") || token.text.utf8.allSatisfy(\.isASCIIDigit)
  }
}
