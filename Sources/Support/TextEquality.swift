import Glibc

// The standard library takes two spellings of é for one: its `==` and `hashValue` ignore normalisation. To servers and databases
// text is bytes, and ids, keys and values that differ in their bytes are different ones. These operators hide those of the
// standard library wherever this module is imported; `IdSet` and `IdMap` are the collections.

extension String {
  @inlinable package static func == (a: String, b: String) -> Bool { hasSameBytes(a, b) }
  @inlinable package static func != (a: String, b: String) -> Bool { !hasSameBytes(a, b) }
  @inlinable package static func ~= (pattern: String, value: String) -> Bool { hasSameBytes(pattern, value) }

  /// As fast as the standard library's equality: most texts that differ have other lengths, which are known without reading them.
  @inlinable package static func hasSameBytes(_ a: String, _ b: String) -> Bool {
    guard a.utf8.count == b.utf8.count else { return false }
    let isSame = a.utf8.withContiguousStorageIfAvailable { a in
      b.utf8.withContiguousStorageIfAvailable { b in
        guard let left = a.baseAddress, let right = b.baseAddress else { return true }
        return memcmp(left, right, a.count) == 0
      }
    }
    return (isSame ?? nil) ?? a.utf8.elementsEqual(b.utf8)
  }
}

extension StringProtocol {
  @inlinable package static func == <Other: StringProtocol>(a: Self, b: Other) -> Bool { a.utf8.elementsEqual(b.utf8) }
  @inlinable package static func != <Other: StringProtocol>(a: Self, b: Other) -> Bool { !(a == b) }
}

extension Substring {
  @inlinable package static func == (a: Substring, b: Substring) -> Bool { a.utf8.elementsEqual(b.utf8) }
  @inlinable package static func != (a: Substring, b: Substring) -> Bool { !(a == b) }
  @inlinable package static func ~= (pattern: Substring, value: Substring) -> Bool { pattern == value }
}

extension Optional where Wrapped == String {
  @inlinable package static func == (a: String?, b: String?) -> Bool {
    switch (a, b) {
    case (let a?, let b?): a == b
    case (nil, nil): true
    default: false
    }
  }

  @inlinable package static func != (a: String?, b: String?) -> Bool { !(a == b) }
}

extension Array where Element == String {
  @inlinable package static func == (a: [String], b: [String]) -> Bool {
    a.count == b.count && zip(a, b).allSatisfy { $0 == $1 }
  }

  @inlinable package static func != (a: [String], b: [String]) -> Bool { !(a == b) }
  @inlinable package func contains(_ text: String) -> Bool { contains { $0 == text } }
  @inlinable package func firstIndex(of text: String) -> Int? { firstIndex { $0 == text } }
}

/// A text that is equal to another one if its bytes are.
package struct ExactText: Sendable, Hashable {
  package let text: String

  @inlinable package init(_ text: String) { self.text = text }

  @inlinable package static func == (a: ExactText, b: ExactText) -> Bool { a.text == b.text }

  @inlinable package func hash(into hasher: inout Hasher) {
    // Swift's own texts lie in one piece. A copy for `withUTF8` would cost more than the hash.
    let isDone: Void? = text.utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    if isDone == nil {
      var text = text
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
  }
}
