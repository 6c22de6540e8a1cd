/// Removes secrets from the queries of URLs before they are stored, such as that of a next page,
/// and adds them again before use.
package enum SecretParameters {
  /// Returns the URL without its secret parameters; the others stay as they are.
  package static func removed(from url: String) -> String {
    let parts = parts(of: url)
    let kept = parts.pairs.filter { !isSecret($0) }
    guard kept.count < parts.pairs.count else { return url }
    return parts.base + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&")) + parts.fragment
  }

  /// Returns the URL with those secret parameters of another URL, such as that of the first page,
  /// that it lacks.
  package static func added(to url: String, from other: String) -> String {
    let parts = parts(of: url), names = parts.pairs.map { name($0) }
    let missing = self.parts(of: other).pairs.filter { isSecret($0) && !names.contains(name($0)) }
    guard !missing.isEmpty else { return url }
    return parts.base + "?" + (parts.pairs + missing).joined(separator: "&") + parts.fragment
  }

  private static func parts(of url: String) -> (base: String, pairs: [String], fragment: String) {
    let whole = url.prefix { $0 != "#" }, base = whole.prefix { $0 != "?" }
    let query = whole.dropFirst(base.count + 1)
    let pairs = query.split(separator: "&", omittingEmptySubsequences: false).map(String.init)
    return (String(base), query.isEmpty ? [] : pairs, String(url.dropFirst(whole.count)))
  }

  private static func name(_ pair: String) -> String {
    let name = pair.prefix { $0 != "=" }
    return (PercentEncoding.decode(name) ?? String(name)).lowercased()
  }

  private static func isSecret(_ pair: String) -> Bool { SecretNames.isSecret(parameter: name(pair)) }
}
