import MobileSync

extension UploadOperation {
  /// What the operation can send of an entry. A function may compute its value from any member, and so may a template.
  var sendable: SendableMembers {
    switch content {
    // A member that the entry lacks is sent as it was received.
    case .everything: return SendableMembers(paths: nil, sendsRemovals: false)
    case .fields(let fields):
      var paths: [[String]] = []
      for field in fields {
        guard case .path(let path) = field.source, let names = path.memberNames ?? path.firstMember.map({ [$0] }), !names.isEmpty
        else { return SendableMembers(paths: nil, sendsRemovals: nullOnMissing) }
        paths.append(names)
      }
      if let unique = unlistedUnique?.memberNames { paths.append(unique) }
      return SendableMembers(paths: paths, sendsRemovals: nullOnMissing)
    case .body, nil: return SendableMembers(paths: nil, sendsRemovals: true)
    }
  }
}
