/// Which requests a parent and its children need, in order. No store, network or clock.
package struct FamilyPlan: Equatable {
  package struct Part: Equatable {
    package let member: FamilyMember
    package let action: UploadAction
  }

  /// To be sent.
  private(set) var parts: [Part] = []
  /// Made and deleted here: their rows go without a request.
  private(set) var removals: [FamilyMember] = []
  /// The children go with the parent, on the server too.
  package let takesChildrenAlong: Bool
  package let parentAction: UploadAction

  package init(parent: UploadAction, children: [UploadAction], relationship: ParentChildrenInfo.Relationship) {
    parentAction = parent
    let isGoing = parent == .delete || parent == .removeLocally
    takesChildrenAlong = isGoing && relationship == .masterDetail
    let isNew = parent == .create || parent == .upsert
    if !takesChildrenAlong {
      for (i, action) in children.enumerated() {
        switch action {
        case .removeLocally: removals.append(.child(i))
        // A clean child of a parent that gets a new id has to be told.
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

  /// The calls, each as large as the server takes it.
  package func calls(size: Int) -> [[Part]] {
    stride(from: 0, to: parts.count, by: size).map { Array(parts[$0..<min($0 + size, parts.count)]) }
  }
}

/// One of a family.
package enum FamilyMember: Hashable, Sendable {
  case parent
  /// Position among the children.
  case child(Int)
}
