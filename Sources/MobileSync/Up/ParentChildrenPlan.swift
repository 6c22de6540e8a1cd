/// The requests that a parent and its children need, in order. No store, network or clock.
package struct ParentChildrenPlan: Equatable {
  package struct Part: Equatable {
    package let member: ParentChildrenMember
    package let action: UploadAction
  }

  /// The members to send.
  private(set) var parts: [Part] = []
  /// Members created and deleted locally: their rows are removed without a request.
  private(set) var removals: [ParentChildrenMember] = []
  /// Whether the children are deleted with the parent, on the server as well.
  package let deletesChildren: Bool
  package let parentAction: UploadAction

  package init(parent: UploadAction, children: [UploadAction], relationship: ParentChildrenInfo.Relationship) {
    parentAction = parent
    let isGoing = parent == .delete || parent == .removeLocally
    deletesChildren = isGoing && relationship == .masterDetail
    let isNew = parent == .create || parent == .upsert
    if !deletesChildren {
      for (i, action) in children.enumerated() {
        switch action {
        case .removeLocally: removals.append(.child(i))
        // A clean child must be updated if its parent gets a new id.
        case .nothing: if isNew { parts.append(Part(member: .child(i), action: .update)) }
        default: parts.append(Part(member: .child(i), action: action))
        }
      }
    }
    switch parent {
    case .nothing: break
    case .removeLocally: removals.append(.parent)
    case .delete: parts.append(Part(member: .parent, action: .delete))
    default: parts.insert(Part(member: .parent, action: parent), at: 0)
    }
  }

  /// Returns the calls, each as large as the server allows.
  package func calls(size: Int) -> [[Part]] {
    stride(from: 0, to: parts.count, by: size).map { Array(parts[$0..<min($0 + size, parts.count)]) }
  }
}

/// A member of a family.
package enum ParentChildrenMember: Hashable, Sendable {
  case parent
  /// The position among the children.
  case child(Int)
}
