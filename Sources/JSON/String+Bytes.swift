import Glibc

extension String {
  /// Returns whether two texts have the same bytes. `==` also treats canonically equivalent texts
  /// as equal, but names, paths and keys differ if their bytes do.
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
