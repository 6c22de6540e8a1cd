import JSON
import MobileSync
import RestClient
import SmartStore
import Support

/// Reads the relations of the objects on a page and determines the changes to the stored link rows
/// and lists.
struct LinkRefresh: Sendable {
  let target: ParseSyncDownTarget
  let exchange: ParseExchange
  let context: FetchContext
  /// The watermark of earlier runs, in ms since 1970 UTC.
  let since: Int64

  struct Found: Sendable {
    /// New rows, by soup.
    var rows: IdMap<[JSONObject]> = [:]
    /// Keys of rows that the server no longer has, by soup.
    var gone: IdMap<[String]> = [:]
  }

  private struct Question: Sendable {
    let owner: String
    let rule: RelationRule
  }

  func refresh(_ objects: inout [JSONObject]) async throws -> Found {
    let ids = objects.compactMap { $0["objectId"]?.stringValue }, known = try await context.receivedRecords(ids)
    var questions: [Question] = []
    for i in objects.indices {
      guard let id = objects[i]["objectId"]?.stringValue else { continue }
      // An upload or a resolved conflict can give the row a time stamp for which no run has read
      // the relations yet.
      let isLater = objects[i]["updatedAt"]?.stringValue.flatMap { TimeStamp.milliseconds($0) }.map { $0 > since } ?? true
      let isKnown = !isLater && known[id].map { $0["updatedAt"] == objects[i]["updatedAt"] } ?? false
      for rule in target.refreshed {
        guard isKnown, rule.refresh == .changed else {
          questions.append(Question(owner: id, rule: rule))
          continue
        }
        // Keep the list from when the owner last changed.
        if case .ids(let field) = rule.storage { objects[i][field] = known[id]?[field] }
      }
    }
    let answers = zip(questions, try await questions.concurrentMap(atMost: Tuning.linkRequests) { try await related($0) })
    var found = Found(), lists: IdMap<[(String, JSONValue)]> = [:]
    for (question, related) in answers {
      switch question.rule.storage {
      case .ids(let field): lists[question.owner, default: []].append((field, .array(related.map { .string($0) })))
      case .links(let soup): try await take(related, question, soup, &found)
      }
    }
    for i in objects.indices {
      for (field, list) in objects[i]["objectId"]?.stringValue.flatMap({ lists[$0] }) ?? [] { objects[i][field] = list }
    }
    return found
  }

  /// Returns the ids related to one owner. Never reads in the order of creation, in which servers
  /// lose rows of relations.
  private func related(_ question: Question) async throws -> [String] {
    let owner = ParsePointer(className: target.target.className, objectId: question.owner)
    let walk = try ParseTarget.checked("relations") { () throws(ParseProblem) in
      var query = try ParseQuery(question.rule.className, .related(to: owner, by: question.rule.field))
      query.keys = ["objectId"]
      return KeysetWalk(query, by: .id, pageSize: Tuning.largestPage)
    }
    return try await exchange.ids(walk).sorted()
  }

  /// Collects changes to link rows. Rows with local changes stay as they are.
  private func take(_ related: [String], _ question: Question, _ soup: String, _ found: inout Found) async throws {
    let owner = question.owner, field = question.rule.field, className = target.target.className
    let here = try await context.store.read { snapshot in
      try snapshot.entryIds(in: soup, where: "ownerId", equals: .text(owner)).compactMap { id -> (key: String, isDirty: Bool)? in
        guard let entry = try snapshot.entry(id, in: soup)?.object(), entry["field"]?.stringValue == field,
          let key = entry["linkKey"]?.stringValue
        else { return nil }
        return (key, entry[LocalField.local] == true)
      }
    }
    let dirty = IdSet(here.filter(\.isDirty).map(\.key))
    let rows = related.map { LinkRow(className, owner, field, $0) }, keys = IdSet(rows.map(\.key))
    found.rows[soup, default: []] += rows.filter { !dirty.contains($0.key) }.map(\.json)
    found.gone[soup, default: []] += here.filter { !$0.isDirty && !keys.contains($0.key) }.map(\.key)
  }
}

extension ParseExchange {
  /// Returns all ids of a walk by id, in order.
  func ids(_ walk: KeysetWalk) async throws -> [String] {
    var ids: [String] = [], position: KeysetWalk.Position?, seen = IdSet()
    while true {
      let rows = try await objects(walk.page(after: position)).map { object in
        guard let id = object["objectId"]?.stringValue, !id.isEmpty else {
          throw SyncError(
            .unexpectedAnswer, "the server sent an object without an 'objectId', so it is unknown which objects exist")
        }
        return id
      }
      guard let last = rows.last else { return ids }
      let fresh = rows.filter { seen.insert($0).inserted }
      guard !fresh.isEmpty else {
        throw SyncError(.unexpectedAnswer, "the server keeps sending the same ids after '\(last)', so the walk would never end")
      }
      ids += fresh
      position = KeysetWalk.Position(updatedAt: nil, objectId: last)
    }
  }
}
