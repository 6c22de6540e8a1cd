/// Keeps a server that shows too little from emptying a soup.
package struct GhostGuard: Sendable {
  /// Of fewer rows than these any part may go.
  package static let fewestRows = 20
  /// A larger part than this goes only when it is forced to.
  package let largestShare: Double

  package init(largestShare: Double) { self.largestShare = largestShare }

  /// - Parameter count: Rows that might go.
  package func refuses(gone: Int, of count: Int, isForced: Bool) -> Bool {
    !isForced && count >= GhostGuard.fewestRows && Double(gone) / Double(max(1, count)) > largestShare
  }
}
