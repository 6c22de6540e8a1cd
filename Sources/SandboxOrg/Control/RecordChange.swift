import JSON

/// A change to one record, made by a user other than the signed-in one.
public enum RecordChange: Sendable, Equatable {
  case create(String, JSONObject)
  case update(String, id: String, JSONObject)
  case delete(String, id: String)
}

extension SandboxServer {
  private struct Undone: Error {}

  /// Changes a record.
  ///
  /// - Returns: The new record's id, for `.create`.
  /// - Throws: ``SandboxError`` with the code that a REST call would get.
  @discardableResult
  public func change(_ change: RecordChange) throws -> String? {
    switch change {
    case .create(let type, let fields): return try create(type, fields: fields)
    case .update(let type, let id, let fields): try update(type, id: id, fields: fields)
    case .delete(let type, let id): try delete(type, id: id)
    }
    return nil
  }

  /// Makes a change that has the current timestamp but becomes visible later, like a long
  /// transaction.
  ///
  /// The change is validated at once and refused if it is invalid. If it becomes invalid later, it
  /// is dropped.
  /// - Throws: ``SandboxError`` with the code that a REST call would get.
  public func changeLate(_ change: RecordChange, after moment: CommitMoment) throws {
    try org.performAndWait { org in
      do {
        try org.transaction {
          try Self.apply(change, to: org)
          throw Undone()
        }
      } catch is Undone {}
      org.scheduleCommit(after: moment) { org in _ = try? org.transaction { try Self.apply(change, to: org) } }
    }
  }

  /// The number of changes, and of client writes delayed by the fault `lateCommit`, that are not
  /// visible yet.
  public var pendingCommits: Int { get throws { try org.performAndWait { $0.lateCommits.count } } }

  private static func apply(_ change: RecordChange, to org: Org) throws {
    let writer = RecordWriter(org: org, userId: Users.colleague)
    func object(_ type: String) throws -> ObjectSchema {
      guard let object = org.schema.object(type) else { throw SandboxError.unknownType(type) }
      return object
    }
    switch change {
    case .create(let type, let fields): _ = try writer.create(try object(type), fields)
    case .update(let type, let id, let fields):
      let object = try object(type)
      try writer.update(object, id: try live(id, object, writer), fields)
    case .delete(let type, let id):
      let object = try object(type)
      try writer.delete(object, id: try live(id, object, writer))
    }
  }
}
