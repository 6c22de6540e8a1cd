/// Finds the name that a mistyped word most likely stands for.
public enum NearestName {
  /// Returns the best candidate: one that differs only in letter case; else one that ends with the
  /// word, such as `pgQuerySoup` for `querySoup`; else the one with the fewest edits, if those are
  /// few for the word's length. Of equal candidates, the first one wins.
  public static func find(_ word: String, among candidates: [String]) -> String? {
    guard !word.isEmpty, word.utf8.count <= longest else { return nil }
    let word = word.lowercased(), candidates = candidates.prefix(most).filter { $0.utf8.count <= longest }
    if let same = candidates.first(where: { $0.lowercased() == word }) { return same }
    if word.count >= 4, let whole = candidates.first(where: { $0.lowercased().hasSuffix(word) }) { return whole }
    let letters = Array(word)
    var best: (name: String, edits: Int)?
    for candidate in candidates {
      let edits = edits(letters, Array(candidate.lowercased()))
      if edits < best?.edits ?? Int.max { best = (candidate, edits) }
    }
    return best.flatMap { $0.edits <= min(3, max(1, letters.count / 3)) ? $0.name : nil }
  }

  /// Bytes of a word that may be a mistyped name, and candidates that are looked at: scripts may
  /// choose both.
  private static let longest = 100, most = 1000

  /// Returns "; did you mean 'x'?", or the list of all candidates if none is near, or nothing if
  /// there are no candidates. Append it to the error message.
  public static func hint(for word: String, among candidates: [String]) -> String {
    if candidates.isEmpty { return "" }
    if let nearest = find(word, among: candidates) { return "; did you mean '\(nearest)'?" }
    let shown = candidates.prefix(100).map { $0.utf8.count <= longest ? $0 : $0.prefix(longest) + "…" }
    return "; known: " + shown.joined(separator: ", ") + (candidates.count > shown.count ? ", …" : "")
  }

  /// Returns the number of insertions, deletions, substitutions and swaps of neighbours that turn
  /// one word into the other.
  static func edits(_ a: [Character], _ b: [Character]) -> Int {
    var before: [Int] = [], last = Array(0...b.count)
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var count = min(row[j] + 1, last[j + 1] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { count = min(count, before[j - 1] + 1) }
        row.append(count)
      }
      (before, last) = (last, row)
    }
    return last[b.count]
  }
}
