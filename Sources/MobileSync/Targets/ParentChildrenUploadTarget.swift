import JSON
import RestClient

/// Sends parents with their children to the server. The sync selects the records, journals them and
/// writes the results back.
package protocol ParentChildrenUploadTarget: Sendable {
  /// The JSON as stored: normalized.
  var json: JSONObject { get }
  var info: ParentChildrenInfo { get }
  /// How each side's records are read and looked up.
  var parents: UploadSettings { get }
  var children: UploadSettings { get }
  /// The maximum number of records in one call.
  var largestCall: Int { get }

  /// Sends members of one family in one call.
  /// - Returns: One result for each request, in order.
  /// - Throws: `RestError` if the whole call failed.
  func send(_ requests: [ParentChildrenRequest], through client: any RestClient) async throws -> [UploadResult]

  /// Returns the server's version of a family: the named fields, plus ids and dates.
  /// - Throws: `RestError`.
  func versions(
    of parentId: String, parent: [String], children: [String], through client: any RestClient
  ) async throws -> ParentChildrenVersions
}

/// One member of a family to send.
package struct ParentChildrenRequest: Sendable {
  package let member: ParentChildrenMember
  package let upload: PlannedUpload
  package let batch: DirtyBatch
  package let context: UploadContext
  /// For a child, the reference to its parent; nil if it is not sent.
  package let parent: ParentReference?
}

package enum ParentReference: Sendable, Equatable {
  case id(String)
  /// The parent is sent in the same call and has no id yet.
  case sameCall
  /// The child has no parent any more.
  case none
}

/// The server's version of a family.
package struct ParentChildrenVersions: Sendable {
  package let parent: ServerVersion
  /// By id; nil if unknown.
  package var children: IdMap<ServerVersion>?
  /// Whether there are fields to compare besides dates.
  var hasFields = false

  /// Creates a version of which nothing is known.
  package init() {
    parent = .unknown
  }

  /// - Parameter children: The children that the server has under the parent.
  package init(parent: ServerVersion, children: IdMap<ServerVersion>) {
    self.parent = parent
    self.children = children
  }

  func child(_ id: String?) -> ServerVersion {
    guard let children, let id else { return .unknown }
    return children[id] ?? .deleted
  }
}
