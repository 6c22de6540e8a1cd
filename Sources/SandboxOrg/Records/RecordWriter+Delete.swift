import Database

/// Soft deletes: the row stays for queryAll, with a new stamp.
extension RecordWriter {
  /// Deletes a live row with all that hangs on it; in the caller's transaction, which must roll back on an error.
  /// - Throws: ``SandboxError`` `DELETE_FAILED` while a row that must not lose its parent refers to it.
  func delete(_ object: ObjectSchema, id: String) throws {
    guard object.isDeletable else {
      throw SandboxError(
        status: 400, code: "INSUFFICIENT_ACCESS_OR_READONLY", message: "insufficient access rights on object id",
        fields: [])
    }
    let doomed = try family(object, id)
    for (child, childId) in doomed { try refuseIfRestricted(child, childId) }
    let stamp = SQLValue.text(Timestamp.text(org.stamp()))
    for (child, childId) in doomed {
      try releaseReferences(child, childId, stamp)
      try org.connection.run(
        "UPDATE \(child.table) SET IsDeleted = 1, LastModifiedDate = ?, SystemModstamp = ?, LastModifiedById = ? "
          + "WHERE Id = ?", [stamp, stamp, .text(userId), .text(childId)])
    }
  }

  /// The row and what cascades from it, parents first.
  private func family(_ object: ObjectSchema, _ id: String) throws -> [(ObjectSchema, String)] {
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

  /// Rows that may live without their parent lose the reference; only `SystemModstamp` tells of it.
  private func releaseReferences(_ object: ObjectSchema, _ id: String, _ stamp: SQLValue) throws {
    for (child, field) in org.schema.references(to: object.name)
    where field.onParentDelete == .setNull && !field.isReadOnly && field.name != "OwnerId" {
      try org.connection.run(
        "UPDATE \(child.table) SET \"\(field.name)\" = NULL, SystemModstamp = ? WHERE \"\(field.name)\" = ? "
          + "AND IsDeleted = 0", [stamp, .text(id)])
    }
  }
}
