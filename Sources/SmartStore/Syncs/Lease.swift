/// The exclusive right of one owner, in any process, to do something until a time.
package struct Lease: Sendable, Equatable {
  package let name: String
  package let owner: String
  /// The fencing token: it rises with every change of owner, so a former owner notices before it
  /// writes.
  package let fence: Int64
  /// Ms since 1970 UTC.
  package let expiresAt: Int64

  package init(name: String, owner: String, fence: Int64, expiresAt: Int64) {
    self.name = name
    self.owner = owner
    self.fence = fence
    self.expiresAt = expiresAt
  }
}
