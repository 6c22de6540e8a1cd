import Support

extension String {
  /// Returns whether two texts have the same bytes. `==` of the standard library also treats canonically equivalent texts
  /// as equal, but names, paths and keys differ if their bytes do.
  public func hasSameBytes(as other: String) -> Bool { String.hasSameBytes(self, other) }
}
