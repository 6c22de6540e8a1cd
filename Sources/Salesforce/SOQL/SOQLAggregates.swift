/// Finds the aggregate functions of SOQL in a select list.
enum SOQLAggregates {
  /// How deep function calls are searched; SOQL nests two. Bounded because the text may come from anywhere.
  private static let maximumDepth = 8
  private static let names: Set<String> = ["avg", "count", "count_distinct", "max", "min", "sum"]

  /// Returns true if the list calls an aggregate function, directly or as the argument of another function. A field that
  /// is named like a function has no parentheses; a child query has parentheses and no name.
  static func isCalled(in tokens: [String], depth: Int = 1) -> Bool {
    let words = tokens.filter { !SOQLTokenizer.isBlank($0) }
    return zip(words, words.dropFirst()).contains { word, argument in
      guard argument.hasPrefix("("), let name = function(word) else { return false }
      if names.contains(name) { return true }
      return depth < maximumDepth && isCalled(in: SOQLTokenizer.tokens(inside(argument)), depth: depth + 1)
    }
  }

  /// Returns the name in lower case at the end of a token such as `Id,SUM`; nil after a comma or a text.
  private static func function(_ word: String) -> String? {
    guard let name = word.split(separator: ",", omittingEmptySubsequences: false).last, !name.isEmpty,
      name.unicodeScalars.allSatisfy({ $0 != "'" && $0 != "(" && $0 != ")" })
    else { return nil }
    return name.lowercased()
  }

  private static func inside(_ argument: String) -> String {
    String(argument.hasSuffix(")") ? argument.dropFirst().dropLast() : argument.dropFirst())
  }
}
