/// Prevents a server that returns too little from emptying a soup.
package struct GhostGuard: Sendable {
  /// With fewer rows than this, any share may be removed.
  package static let fewestRows = 20
  /// The largest share that is removed without force.
  package let largestShare: Double

  package init(largestShare: Double) { self.largestShare = largestShare }

  /// - Parameter count: The number of rows that could be removed.
  package func refuses(gone: Int, of count: Int, isForced: Bool) -> Bool {
    !isForced && count >= GhostGuard.fewestRows && Double(gone) / Double(max(1, count)) > largestShare
  }
}
