import Database

/// Soft deletes: the row stays for queryAll, with a new timestamp.
extension RecordWriter {
  /// Deletes a live row with its dependents; in the caller's transaction, which must roll back on
  /// an error.
  ///
  /// - Throws: ``SandboxError`` `DELETE_FAILED` if a row that must not lose its parent refers to
  ///   it.
  func delete(_ object: ObjectSchema, id: String) throws {
    guard object.isDeletable else {
      throw SandboxError(
        status: 400, code: "INSUFFICIENT_ACCESS_OR_READONLY", message: "insufficient access rights on object id",
        fields: [])
    }
    if object.traits.contains(.fileShare) { try FileShares(org: org).checkDelete(id) }
    let deleted = try dependents(object, id)
    for (child, childId) in deleted { try org.interference.requireUnlocked(childId, of: child) }
    for (child, childId) in deleted { try refuseIfRestricted(child, childId) }
    let stamp = SQLValue.text(Timestamp.text(org.stamp()))
    for (child, childId) in deleted {
      try releaseReferences(child, childId, stamp)
      try org.connection.run(
        "UPDATE \(child.table) SET IsDeleted = 1, LastModifiedDate = ?1, SystemModstamp = ?1, LastModifiedById = ?2 "
          + "WHERE Id = ?3", [stamp, .text(userId), .text(childId)])
    }
  }

  /// Returns the row and the rows its deletion cascades to, parents first.
  private func dependents(_ object: ObjectSchema, _ id: String) throws -> [(ObjectSchema, String)] {
    var found = [(object, id)]
    var seen: Set<String> = [id]
    var index = 0
    while index < found.count {
      let (parent, parentId) = found[index]
      index += 1
      for (child, field) in org.schema.references(to: parent.name) where field.onParentDelete == .cascade {
        for childId in try reader.ids(in: child, where: field, is: .text(parentId)) where seen.insert(childId).inserted {
          found.append((child, childId))
        }
      }
    }
    return found
  }

  private func refuseIfRestricted(_ object: ObjectSchema, _ id: String) throws {
    for (child, field) in org.schema.references(to: object.name) where field.onParentDelete == .restrict {
      let blocking = try reader.ids(in: child, where: field, is: .text(id))
      guard !blocking.isEmpty else { continue }
      let names = try blocking.map { try name(of: $0, in: child) }.joined(separator: ", ")
      throw SandboxError(
        status: 400, code: "DELETE_FAILED",
        message: "Your attempt to delete \(try name(of: id, in: object)) could not be completed because it is "
          + "associated with the following \(child.labelPlural.lowercased()).: \(names)\n", fields: [])
    }
  }

  private func name(of id: String, in object: ObjectSchema) throws -> String {
    guard let field = object.nameField,
      case .text(let text)? = try org.connection.firstValue(
        "SELECT \"\(field.name)\" FROM \(object.table) WHERE Id = ?", [.text(id)])
    else { return id }
    return text
  }

  /// Clears references of rows that can exist without their parent; only their `SystemModstamp`
  /// changes.
  private func releaseReferences(_ object: ObjectSchema, _ id: String, _ stamp: SQLValue) throws {
    for (child, field) in org.schema.references(to: object.name)
    where field.onParentDelete == .setNull && field.isCreateable && field.name != "OwnerId" {
      try org.connection.run(
        "UPDATE \(child.table) SET \"\(field.name)\" = NULL, SystemModstamp = ? WHERE \"\(field.name)\" = ? "
          + "AND IsDeleted = 0", [stamp, .text(id)])
    }
  }
}

/// Undeletes. REST has no resource for it; ``SandboxServer`` offers it to tests.
extension RecordWriter {
  /// Restores a deleted row with the rows that were deleted with it. Cleared references stay empty.
  ///
  /// - Throws: ``SandboxError`` `UNDELETE_FAILED` if the row is not in the recycle bin,
  ///   `ENTITY_IS_DELETED` if a required parent is deleted.
  func undelete(_ object: ObjectSchema, id: String) throws {
    guard try reader.presence(of: id, in: object) == .deleted else {
      throw SandboxError(
        status: 400, code: "UNDELETE_FAILED", message: "Entity is not in the recycle bin", fields: [])
    }
    try requireParents(object, id)
    let deletedAt = try org.connection.firstValue("SELECT SystemModstamp FROM \(object.table) WHERE Id = ?", [.text(id)])
    let stamp = SQLValue.text(Timestamp.text(org.stamp()))
    var waiting = [(object, id)]
    while let (parent, parentId) = waiting.popLast() {
      try org.connection.run(
        "UPDATE \(parent.table) SET IsDeleted = 0, LastModifiedDate = ?1, SystemModstamp = ?1, LastModifiedById = ?2 "
          + "WHERE Id = ?3", [stamp, .text(userId), .text(parentId)])
      for (child, field) in org.schema.references(to: parent.name) where field.onParentDelete == .cascade {
        let ids = try reader.deletedIds(in: child, where: field, is: parentId, at: deletedAt ?? .null)
        waiting += ids.map { (child, $0) }
      }
    }
  }

  private func requireParents(_ object: ObjectSchema, _ id: String) throws {
    for field in object.fields where field.type == .reference && field.isRequired {
      guard
        case .text(let parentId)? = try org.connection.firstValue(
          "SELECT \"\(field.name)\" FROM \(object.table) WHERE Id = ?", [.text(id)]),
        let parent = org.schema.object(ofId: parentId)
      else { continue }
      if try reader.presence(of: parentId, in: parent) == .deleted { throw SandboxError.entityIsDeleted(status: 400) }
    }
  }
}
