extension FixedWidthInteger where Self: SignedInteger {
  /// The number within ±2^61, so that a sum of a few cannot overflow. For numbers that others write.
  package var bounded: Self { Swift.min(Swift.max(self, -(1 << 61)), 1 << 61) }
}

extension FixedWidthInteger {
  /// The number without its fraction, or the nearest that fits; 0 for NaN. `Int(_:)` ends the process
  /// with a double that does not fit, and servers, files and scripts choose such doubles.
  @inlinable package init(saturating source: Double) {
    if let number = Self(exactly: source.rounded(.towardZero)) {
      self = number
    } else {
      self = source > 0 ? .max : source < 0 ? .min : 0
    }
  }
}

// These hide the initializers of the standard library wherever this module is imported, so that the
// compiler names each conversion that could end the process.

extension Int {
  @available(*, deprecated, message: "a double may not fit: use Int(saturating:) or Int(exactly:)")
  package init(_ source: Double) { self.init(saturating: source) }
}

extension Int64 {
  @available(*, deprecated, message: "a double may not fit: use Int64(saturating:) or Int64(exactly:)")
  package init(_ source: Double) { self.init(saturating: source) }
}

extension Int32 {
  @available(*, deprecated, message: "a double may not fit: use Int32(saturating:) or Int32(exactly:)")
  package init(_ source: Double) { self.init(saturating: source) }
}

extension UInt64 {
  @available(*, deprecated, message: "a double may not fit: use UInt64(saturating:) or UInt64(exactly:)")
  package init(_ source: Double) { self.init(saturating: source) }
}

extension UInt32 {
  @available(*, deprecated, message: "a double may not fit: use UInt32(saturating:) or UInt32(exactly:)")
  package init(_ source: Double) { self.init(saturating: source) }
}
