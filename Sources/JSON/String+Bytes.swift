import Glibc

extension String {
  /// Whether two texts are the same bytes. `==` also takes texts for equal that only look the same, and names, paths and keys are
  /// different when their bytes are.
  public func hasSameBytes(as other: String) -> Bool {
    var a = self, b = other
    return a.withUTF8 { a in
      b.withUTF8 { b in
        guard a.count == b.count else { return false }
        guard let left = a.baseAddress, let right = b.baseAddress else { return true }
        return memcmp(left, right, a.count) == 0
      }
    }
  }
}
