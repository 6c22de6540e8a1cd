import JSON

/// An entry of a plan, or a family that is sent together.
struct PlannedItem: Sendable {
  enum Expectation: String, Sendable, CaseIterable { case send, merge, conflict, skip, wait, blocked }

  enum Why: String, Sendable, CaseIterable {
    case inDoubt, noId, noType, nothingToSend, localReference, conflict, resolver, deletedThere, lastError, readOnly
    case fieldNotListed, held
  }

  struct Reason: Sendable, Equatable {
    let code: Why
    let text: String

    init(_ code: Why, _ text: String) { (self.code, self.text) = (code, text) }
  }

  /// A field that differs from the base.
  struct Field: Sendable {
    enum Side: String, Sendable { case here, there, both }

    let name: String
    let base: JSONValue?
    let local: JSONValue?
    /// The server's value, if it was asked.
    let server: JSONValue?
    let side: Side
    let isSent: Bool
  }

  let soup: String
  let entryId: Int64
  let version: Int64
  let action: UploadAction
  var recordId: String?
  var title: String?
  var expect: Expectation
  var why: [Reason] = []
  /// The number of the request that sends it.
  var request: Int?
  var fields: [Field] = []
  /// The other members of a family.
  var family: [PlannedItem] = []

  init(_ soup: String, _ entryId: Int64, version: Int64, _ action: UploadAction, _ expect: Expectation) {
    (self.soup, self.entryId, self.version, self.action, self.expect) = (soup, entryId, version, action, expect)
  }
}
