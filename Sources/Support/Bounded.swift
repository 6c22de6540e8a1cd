extension FixedWidthInteger where Self: SignedInteger {
  /// The number within ±2^61, so that a sum of a few cannot overflow. For numbers that others write.
  package var bounded: Self { Swift.min(Swift.max(self, -(1 << 61)), 1 << 61) }
}
