import RecordScan

/// Paths compiled together. One pass of the record scanner finds all keys; only steps into an array
/// scan that array again.
struct PathSet: Sendable {
  /// The key paths that a scan can find, without duplicates.
  let plan: ScanPlan
  private let entries: [Entry]
  /// The index of each path in the plan; nil for a path that no scan finds.
  private let fields: [Int?]

  private enum Entry: Sendable {
    /// The value itself.
    case root
    /// A value found by the scanner, and the remaining steps.
    case field(rest: [PathStep])
    /// Steps from the root, because the path starts with an array index.
    case fromRoot([PathStep])
    /// No value: the path is missing, refers to a header, or has `[*]`, which is evaluated
    /// separately.
    case none
  }

  /// A path and the steps before it.
  struct Located: Sendable {
    /// nil and paths to headers refer to no value.
    let path: ValuePath?
    let prefix: [PathStep]

    init(_ path: ValuePath?, below prefix: [PathStep] = []) {
      self.path = path
      self.prefix = prefix
    }
  }

  init(_ paths: [ValuePath?]) { self.init(located: paths.map { Located($0) }) }

  init(located paths: [Located]) {
    entries = paths.map { PathSet.entry($0) }
    var keys: [[[UInt8]]] = []
    fields = zip(paths, entries).map { path, entry in
      guard case .field = entry else { return nil }
      let wanted = path.steps.prefixOfKeys
      if let known = keys.firstIndex(of: wanted) { return known }
      keys.append(wanted)
      return keys.count - 1
    }
    plan = ScanPlan(keys: keys)
  }

  var count: Int { entries.count }

  /// Returns the value that a scan found for a path.
  ///
  /// - Parameter positions: The indexes of ``plan``'s fields in the plan that was scanned; nil if
  ///   that is ``plan`` itself.
  func scanned(
    _ position: Int, record: Int, by scanner: RecordScanner, at positions: [Int]? = nil
  ) -> ScannedValue {
    guard let field = fields[position] else { return .missing }
    return scanner.value(record: record, field: positions?[field] ?? field)
  }

  private static func entry(_ located: Located) -> Entry {
    guard located.path?.steps != nil else { return .none }
    let steps = located.steps, keys = steps.prefixOfKeys
    if steps.isEmpty { return .root }
    return keys.isEmpty ? .fromRoot(steps) : .field(rest: Array(steps.dropFirst(keys.count)))
  }

  /// Returns the value of a path.
  ///
  /// - Parameters:
  ///   - position: The index of the path.
  ///   - scanned: See ``scanned(_:record:by:at:)``.
  ///   - root: The whole scanned value.
  func value(
    _ position: Int, scanned: ScannedValue, root: ScannedValue, in bytes: UnsafeRawBufferPointer
  ) throws(ScanError) -> ScannedValue {
    switch entries[position] {
    case .root: root
    case .field(let rest): try rest.isEmpty ? scanned.withoutArrayStep : scanned.value(at: rest, in: bytes)
    case .fromRoot(let steps): try root.value(at: steps, in: bytes)
    case .none: .missing
    }
  }
}

extension PathSet.Located {
  fileprivate var steps: [PathStep] { prefix + (path?.steps ?? []) }
}

extension ScannedValue {
  /// A path of keys does not continue inside an array: it has no value there.
  fileprivate var withoutArrayStep: ScannedValue { kind == .arrayStep ? .missing : self }

  /// The text that identifies a record or a page: a string, or a number as spelled, without
  /// rounding.
  func scalarText(in bytes: UnsafeRawBufferPointer) -> String? {
    kind == .number ? String(decoding: slice(in: bytes), as: UTF8.self) : string(in: bytes)
  }
}

extension ValuePath {
  /// Appends the path's value in an item as JSON; a path with `[*]` yields an array.
  ///
  /// - Returns: False, with nothing appended, if there is no value.
  func appendJSON(
    from root: ScannedValue, in bytes: UnsafeRawBufferPointer, to out: inout [UInt8]
  ) throws(ScanError) -> Bool {
    switch origin {
    case .header: return false
    case .body(let steps):
      let value = try root.value(at: steps, in: bytes)
      guard value.kind != .missing else { return false }
      value.appendJSON(from: bytes, to: &out)
    case .each(let list, let rest):
      let array = try root.value(at: list, in: bytes)
      guard array.kind == .array else { return false }
      out.append(UInt8(ascii: "["))
      var isFirst = true
      try array.forEachElement(in: bytes) { (element) throws(ScanError) in
        let value = try element.value(at: rest, in: bytes)
        guard value.kind != .missing else { return true }
        if !isFirst { out.append(UInt8(ascii: ",")) }
        isFirst = false
        value.appendJSON(from: bytes, to: &out)
        return true
      }
      out.append(UInt8(ascii: "]"))
    }
    return true
  }
}
