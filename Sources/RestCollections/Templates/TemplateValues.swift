import JSON
import RecordScan
import RestClient

/// Where templates get their values: from the target's `vars`, then from a record by path.
struct TemplateValues: Sendable {
  /// Values that stand in the target.
  let vars: [String: String]
  /// The JSON text of a record; nil where there is none, as in the URL of a list.
  var record: [UInt8]?

  init(vars: [String: String], record: [UInt8]? = nil) {
    self.vars = vars
    self.record = record
  }

  /// A text, or a number or boolean as it is spelled; nil when it is missing, null, an array or an object.
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

/// URLs of a target.
enum TargetURL {
  /// The URL that a template gives.
  ///
  /// - Parameters:
  ///   - base: The connection's base URL. A relative result is appended to its path, with one slash between.
  ///   - source: The URL of the answer that the record came from. A template that is one single `{+x}` holds a reference of the
  ///     server, which is resolved against it.
  /// - Throws: ``URITemplate/Problem`` for a missing value.
  static func expand(
    _ template: URITemplate, _ values: TemplateValues, base: String, source: String? = nil
  ) throws(URITemplate.Problem) -> String {
    let text = try template.expanded { values[$0] }
    if template.isWholeReference { return URLReference.resolve(text, against: source ?? base) }
    return append(text, to: base)
  }

  /// `https://h/api/v1` and `/zones` are `https://h/api/v1/zones`. Slashes at the end stay;
  /// an absolute URL stays whole.
  static func append(_ relative: String, to base: String) -> String {
    if let scheme = URLReference(relative).scheme?.lowercased(), scheme == "http" || scheme == "https" { return relative }
    if relative.isEmpty || relative.hasPrefix("?") { return base + relative }
    let trimmed = base.hasSuffix("/") ? String(base.dropLast()) : base
    return trimmed + (relative.hasPrefix("/") ? "" : "/") + relative
  }
}
