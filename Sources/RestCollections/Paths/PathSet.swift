import RecordScan

/// Paths compiled together: keys are found in the one pass of the record scanner, and only steps that go into an array look again,
/// at the array alone.
struct PathSet: Sendable {
  let plan: ScanPlan
  private let entries: [Entry]

  private enum Entry: Sendable {
    /// The value itself.
    case root
    /// What the scanner finds, and the steps from there on.
    case field(rest: [PathStep])
    /// Steps from the root: the path begins with a position.
    case fromRoot([PathStep])
    /// A path with `[*]`: evaluated on its own.
    case each(ValuePath)
    case none
  }

  /// - Parameters:
  ///   - paths: nil, and a path to a header, lead nowhere.
  ///   - prefix: Steps before each path.
  init(_ paths: [ValuePath?], below prefix: [PathStep] = []) {
    var keys: [[[UInt8]]] = [], entries: [Entry] = []
    for path in paths {
      guard let path, path.headerName == nil else {
        keys.append([])
        entries.append(.none)
        continue
      }
      guard let own = path.steps else {
        keys.append([])
        entries.append(.each(path))
        continue
      }
      let steps = prefix + own, found = steps.prefixOfKeys
      keys.append(found)
      entries.append(
        steps.isEmpty ? .root : found.isEmpty ? .fromRoot(steps) : .field(rest: Array(steps.dropFirst(found.count))))
    }
    plan = ScanPlan(keys: keys)
    self.entries = entries
  }

  /// The value of the path at a position.
  /// - Parameters:
  ///   - scanned: What the scanner found for the plan's field at that position.
  ///   - root: The whole value that was scanned.
  func value(
    _ position: Int, scanned: ScannedValue, root: ScannedValue, in bytes: UnsafeRawBufferPointer
  ) throws(ScanError) -> ScannedValue {
    switch entries[position] {
    case .root: root
    case .field(let rest): try rest.isEmpty ? scanned.withoutArrayStep : scanned.value(at: rest, in: bytes)
    case .fromRoot(let steps): try root.value(at: steps, in: bytes)
    case .each, .none: .missing
    }
  }
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
