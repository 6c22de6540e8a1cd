import JSON
import RestClient

/// How parents with their children reach the server. It sends; choosing, journalling and writing back belong to the sync.
package protocol FamilyUpTarget: Sendable {
  /// As stored: normalised.
  var json: JSONObject { get }
  var info: ParentChildrenInfo { get }
  /// How each side's records are read and looked up.
  var parents: UploadSettings { get }
  var children: UploadSettings { get }
  /// Records that one call takes.
  var largestCall: Int { get }

  /// Sends members of one family in one call.
  /// - Returns: One result for each request, in order.
  /// - Throws: `RestError` when the call as a whole failed.
  func send(_ requests: [FamilyRequest], through client: any RestClient) async throws -> [UploadResult]

  /// What the server has of a family: the fields named, beside ids and dates.
  /// - Throws: `RestError`.
  func versions(
    of parentId: String, parent: [String], children: [String], through client: any RestClient
  ) async throws -> FamilyVersions
}

/// One member of a family, as it is sent.
package struct FamilyRequest: Sendable {
  package let member: FamilyMember
  package let upload: PlannedUpload
  package let batch: DirtyBatch
  package let context: UploadContext
  /// Of a child: what it names as its parent; nil when it is not told of one.
  package let parent: ParentReference?
}

package enum ParentReference: Sendable, Equatable {
  case id(String)
  /// The parent that is sent in the same call: it has no id yet.
  case sameCall
}

/// What the server has of a family.
package struct FamilyVersions: Sendable {
  package let parent: ServerVersion
  /// By id; nil when they are not known.
  package var children: [String: ServerVersion]?
  /// There is more than dates to compare.
  var hasFields = false

  /// Nothing is known.
  package init() {
    parent = .unknown
  }

  /// - Parameter children: Those the server has under the parent.
  package init(parent: ServerVersion, children: [String: ServerVersion]) {
    self.parent = parent
    self.children = children
  }

  func child(_ id: String?) -> ServerVersion {
    guard let children, let id else { return .unknown }
    return children[id] ?? .deleted
  }
}
