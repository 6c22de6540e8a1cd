/// One step of a path into a JSON value.
public enum PathStep: Sendable, Equatable {
  /// A member of an object. In an array, this is the element at `index`, which is nil if the name
  /// is not a position.
  case member([UInt8], index: Int?)
  /// The first element of an array whose member `key` is the string `text`.
  case firstElement(key: [UInt8], text: [UInt8])
}

extension ScannedValue {
  /// Follows the steps from this value without building any values.
  ///
  /// - Parameter bytes: The text that contains this value; it must have been scanned as JSON.
  /// - Returns: ``ScannedValue/missing`` if the path leads nowhere, as opposed to a null.
  public func value(
    at steps: some Sequence<PathStep>, in bytes: UnsafeRawBufferPointer
  ) throws(ScanError) -> ScannedValue {
    var value = self
    for step in steps {
      switch (value.kind, step) {
      case (.object, .member(let key, _)): value = try value.member(key, in: bytes)
      case (.array, .member(_, let index?)): value = try value.element(at: index, in: bytes)
      case (.array, .firstElement(let key, let text)): value = try value.firstElement(where: key, is: text, in: bytes)
      default: return .missing
      }
    }
    return value
  }

  /// Calls `body` with each element of an array until it returns false. Does nothing for other
  /// kinds of values.
  public func forEachElement(
    in bytes: UnsafeRawBufferPointer, _ body: (ScannedValue) throws(ScanError) -> Bool
  ) throws(ScanError) {
    guard kind == .array else { return }
    var walker = walker(inside: bytes)
    if walker.p < walker.end, walker.p.pointee == UInt8(ascii: "]") { return }
    while true {
      let value = try walker.skipValue(depth: 1)
      guard try body(ScannedValue(kind: value.kind, start: value.start, count: value.count)) else { return }
      if try RecordScanner.atEnd(&walker, close: UInt8(ascii: "]")) { return }
    }
  }

  /// Calls `body` with each member of an object: its key, the offset of the key's opening quote,
  /// and its value. Does nothing for other kinds of values.
  public func forEachMember(
    in bytes: UnsafeRawBufferPointer, _ body: (ScannedKey, Int, ScannedValue) throws(ScanError) -> Void
  ) throws(ScanError) {
    guard kind == .object else { return }
    var walker = walker(inside: bytes)
    if walker.p < walker.end, walker.p.pointee == UInt8(ascii: "}") { return }
    while true {
      walker.skipWhitespace()
      let start = walker.offset, key = try walker.key(), value = try walker.skipValue(depth: 1)
      try body(key, start, ScannedValue(kind: value.kind, start: value.start, count: value.count))
      if try RecordScanner.atEnd(&walker, close: UInt8(ascii: "}")) { return }
    }
  }

  /// Returns a walker that stands after the opening bracket of this value.
  private func walker(inside bytes: UnsafeRawBufferPointer) -> JSONWalker {
    var walker = JSONWalker(bytes)
    walker.p = walker.base + start + 1
    walker.skipWhitespace()
    return walker
  }

  /// Returns the member with this key. If a key occurs more than once, the last member counts.
  private func member(_ wanted: [UInt8], in bytes: UnsafeRawBufferPointer) throws(ScanError) -> ScannedValue {
    var found = ScannedValue.missing
    try forEachMember(in: bytes) { (key, _, value) throws(ScanError) in if key == wanted { found = value } }
    return found
  }

  private func element(at index: Int, in bytes: UnsafeRawBufferPointer) throws(ScanError) -> ScannedValue {
    var found = ScannedValue.missing, position = 0
    try forEachElement(in: bytes) { (value) throws(ScanError) in
      if position == index { found = value }
      position += 1
      return position <= index
    }
    return found
  }

  private func firstElement(
    where key: [UInt8], is text: [UInt8], in bytes: UnsafeRawBufferPointer
  ) throws(ScanError) -> ScannedValue {
    var found = ScannedValue.missing
    try forEachElement(in: bytes) { (element) throws(ScanError) in
      let value = try element.kind == .object ? element.member(key, in: bytes) : .missing
      guard value.isString(text, in: bytes) else { return true }
      found = element
      return false
    }
    return found
  }

  /// Returns whether this is a string that equals `text`.
  public func isString(_ text: [UInt8], in bytes: UnsafeRawBufferPointer) -> Bool {
    switch kind {
    case .plainString: return slice(in: bytes).elementsEqual(text)
    case .escapedString: return string(in: bytes).map { $0.utf8.elementsEqual(text) } ?? false
    default: return false
    }
  }
}
