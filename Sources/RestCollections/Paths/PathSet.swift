import RecordScan

/// Paths compiled together: keys are found in the one pass of the record scanner, and only steps that go into an array look
/// again, at the array alone.
struct PathSet: Sendable {
  /// The paths that a scan can find, each once.
  let plan: ScanPlan
  private let entries: [Entry]
  /// Where in the plan each path stands; nil for a path that no scan finds.
  private let fields: [Int?]

  private enum Entry: Sendable {
    /// The value itself.
    case root
    /// What the scanner finds, and the steps from there on.
    case field(rest: [PathStep])
    /// Steps from the root: the path begins with a position.
    case fromRoot([PathStep])
    /// Nothing: no path, a header, or a path with `[*]`, which is evaluated on its own.
    case none
  }

  /// A path and the steps before it.
  struct Located: Sendable {
    /// nil, and a path to a header, lead nowhere.
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

  /// What a scan found for the path at a position.
  /// - Parameter positions: Where the fields of ``plan`` stand in the scan's own plan; nil when that is ``plan``.
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

  /// The value of the path at a position.
  /// - Parameters:
  ///   - scanned: See ``scanned(_:record:by:at:)``.
  ///   - root: The whole value that was scanned.
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
  /// A path of keys does not go on inside an array: there is no value then.
  fileprivate var withoutArrayStep: ScannedValue { kind == .arrayStep ? .missing : self }

  /// The text that identifies a record or a page: a string, or a number as it is spelled, which is never rounded.
  func scalarText(in bytes: UnsafeRawBufferPointer) -> String? {
    kind == .number ? String(decoding: slice(in: bytes), as: UTF8.self) : string(in: bytes)
  }
}

extension ValuePath {
  /// Appends the JSON text of the value in an item, the array of a path with `[*]` included.
  /// - Returns: False, with nothing appended, when the path leads nowhere.
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
