import JSON
import RecordScan
import RestClient

/// Provides the values of templates: first the target's `vars`, then the members of a record by
/// path.
struct TemplateValues: Sendable {
  /// The `vars` of the target.
  let vars: [String: String]
  /// The record as JSON text; nil if there is none, as in the URL of a list.
  var record: [UInt8]?

  init(vars: [String: String], record: [UInt8]? = nil) {
    self.vars = vars
    self.record = record
  }

  /// A text, or a number or boolean as spelled; nil for anything else and for missing values.
  subscript(_ name: String) -> String? {
    if let value = vars[name] { return value }
    guard let record, let path = try? ValuePath(name), let steps = path.steps else { return nil }
    return record.withUnsafeBytes { bytes in
      guard let start = bytes.firstIndex(of: UInt8(ascii: "{")) else { return nil }
      let root = ScannedValue(kind: .object, start: start, count: bytes.count - start)
      guard let value = try? root.value(at: steps, in: bytes) else { return nil }
      switch value.kind {
      case .true: return "true"
      case .false: return "false"
      default: return value.scalarText(in: bytes)
      }
    }
  }
}

/// Builds the URLs of a target.
enum TargetURL {
  /// Expands a template to a URL.
  ///
  /// - Parameters:
  ///   - base: The connection's base URL. A relative result is appended to its path, with one slash
  ///     in between.
  ///   - source: The URL of the response that contained the record. A template that consists of one
  ///     `{+x}` is a reference from the server and is resolved against this URL.
  /// - Throws: ``URITemplate/Problem`` for a missing value.
  static func expand(
    _ template: URITemplate, _ values: TemplateValues, base: String, source: String? = nil
  ) throws(URITemplate.Problem) -> String {
    let text = try template.expanded { values[$0] }
    if template.isWholeReference { return URLReference.resolve(text, against: source ?? base) }
    return append(text, to: base)
  }

  /// Appends a path: `https://h/api/v1` and `/zones` give `https://h/api/v1/zones`. Keeps trailing
  /// slashes, and returns an absolute URL unchanged.
  static func append(_ relative: String, to base: String) -> String {
    if let scheme = URLReference(relative).scheme?.lowercased(), scheme == "http" || scheme == "https" { return relative }
    if relative.isEmpty || relative.hasPrefix("?") { return base + relative }
    let trimmed = base.hasSuffix("/") ? String(base.dropLast()) : base
    return trimmed + (relative.hasPrefix("/") ? "" : "/") + relative
  }
}
