/// What the translation asks about tokens again and again, found once. A statement may have half a million of them.
struct SmartSqlFacts {
  /// The classes of numbers in a range.
  struct Classes {
    var hasInteger = false, hasReal = false, hasUnknown = false
  }

  /// The position of the parenthesis that closes the one at a position. One that nothing closes is not in it.
  let closing: [Int: Int]
  let quotedNamesAfterAs: IdSet
  let forms: IdMap<ValueForm>
  let tables: IdSet
  /// The number of tokens of each class before a position.
  private let integers: [Int], reals: [Int], unknown: [Int]

  init(_ tokens: [SmartSqlToken], _ soups: [SoupTable]) {
    (closing, quotedNamesAfterAs) = Self.places(tokens)
    let forms = Self.forms(soups), tables = IdSet(soups.map(\.name))
    (self.forms, self.tables) = (forms, tables)
    var integers = [0], reals = [0], unknown = [0]
    for i in tokens.indices {
      let found = Self.classes(tokens, i, forms, tables)
      integers.append((integers.last ?? 0) + (found.hasInteger ? 1 : 0))
      reals.append((reals.last ?? 0) + (found.hasReal ? 1 : 0))
      unknown.append((unknown.last ?? 0) + (found.hasUnknown ? 1 : 0))
    }
    (self.integers, self.reals, self.unknown) = (integers, reals, unknown)
  }

  func classes(_ range: Range<Int>) -> Classes {
    let (a, b) = (range.lowerBound, range.upperBound)
    return Classes(
      hasInteger: integers[b] > integers[a], hasReal: reals[b] > reals[a], hasUnknown: unknown[b] > unknown[a])
  }

  private static func places(_ tokens: [SmartSqlToken]) -> ([Int: Int], IdSet) {
    var closing: [Int: Int] = [:], open: [Int] = [], names: IdSet = []
    for (i, token) in tokens.enumerated() {
      switch token {
      case .sign("("): open.append(i)
      case .sign(")"): if let start = open.popLast() { closing[start] = i }
      case .quotedName(let name) where i > 0 && tokens[i - 1].isWord("as"): names.insert(name)
      default: break
      }
    }
    return (closing, names)
  }

  /// The forms of all columns. The first table that has a column counts.
  private static func forms(_ soups: [SoupTable]) -> IdMap<ValueForm> {
    var forms: IdMap<ValueForm> = ["soup": .text]
    for name in ["id", "created", "lastmodified", "version", "owner"] { forms[name] = .integer }
    for table in soups {
      for i in table.soup.specs.indices where forms[table.column(i)] == nil { forms[table.column(i)] = table.form(i) }
    }
    return forms
  }

  private static func classes(
    _ tokens: [SmartSqlToken], _ i: Int, _ forms: IdMap<ValueForm>, _ tables: IdSet
  ) -> Classes {
    switch tokens[i] {
    case .number(let text): return text.contains(".") ? Classes(hasReal: true) : Classes(hasInteger: true)
    case .sign("?"), .quotedName: return Classes(hasUnknown: true)
    case .word(let word):
      if let form = forms[word] { return Classes(hasInteger: form == .integer, hasReal: form == .real) }
      if ["count", "length", "instr"].contains(word) { return Classes(hasInteger: true) }
      if ["avg", "total"].contains(word) { return Classes(hasReal: true) }
      let isKnown = SmartSqlTranslation.keywords.contains(word) || SmartSqlTranslation.functions.contains(word)
      let isQualifier = i + 1 < tokens.count && tokens[i + 1].isSign(".")
      let isAlias = i > 0 && tokens[i - 1].isWord("as")
      return Classes(hasUnknown: !isKnown && !isQualifier && !tables.contains(word) && !isAlias)
    default: return Classes()
    }
  }
}
