import JSON

/// A create whose answer was lost.
struct LostCreate: Sendable {
  let entryId: Int64
  /// The fields that were sent; nil if unknown, because an older build sent it and the entry was
  /// edited since.
  let sent: JSONObject?
  /// The period in which its record may have been created, ms since 1970 UTC by the server's clock.
  let times: ClosedRange<Int64>
}

/// A record on the server that may be the result of a lost create.
struct CreateCandidate: Sendable {
  let id: String
  let fields: JSONObject
  /// In ms since 1970 UTC by the server's clock; nil if unknown.
  let createdAt: Int64?
  /// Whether another entry of the soup already has its id.
  let isKnownHere: Bool
}

enum LostCreateDecision: Sendable, Equatable {
  case adopt(id: String)
  case sendAgain
  /// Sends again at once: the key prevents a duplicate.
  case repeatWithKey
  /// The record may still appear.
  case wait
  case inDoubt
}

/// Decides which creates reached the server. Undecidable ones stay in doubt, because sending them
/// again could create duplicates.
enum LostCreateMatcher {
  static func decide(_ lost: [LostCreate], _ candidates: [CreateCandidate]) -> [Int64: LostCreateDecision] {
    var decisions: [Int64: LostCreateDecision] = [:]
    var free = candidates
    // Entries with the same content are interchangeable: adopt as many as the server has.
    for group in groups(lost) {
      let matches = free.filter { isInTime($0, group.times) && equals(group.sent, $0.fields) }
      let mine = matches.filter { !$0.isKnownHere }
      if mine.count > group.entryIds.count || mine.isEmpty && !matches.isEmpty {
        for id in group.entryIds { decisions[id] = .inDoubt }
        continue
      }
      for (entryId, match) in zip(group.entryIds, mine) {
        decisions[entryId] = .adopt(id: match.id)
        free.removeAll { $0.id == match.id }
      }
      for entryId in group.entryIds.dropFirst(mine.count) where matches.count > mine.count {
        decisions[entryId] = .inDoubt
      }
    }
    for create in lost where decisions[create.entryId] == nil {
      decisions[create.entryId] = undecided(create, free.filter { !$0.isKnownHere })
    }
    return decisions
  }

  /// Decides about a create that equals no record. It never arrived, unless there is a record that
  /// the server, or a local edit, may have altered.
  private static func undecided(_ create: LostCreate, _ free: [CreateCandidate]) -> LostCreateDecision {
    let free = free.filter { isInTime($0, create.times) }
    guard let sent = create.sent else { return free.isEmpty ? .sendAgain : .inDoubt }
    return free.contains { resembles(sent, $0.fields) } ? .inDoubt : .sendAgain
  }

  private struct Group {
    let sent: JSONObject
    var times: ClosedRange<Int64>
    var entryIds: [Int64]
  }

  private static func groups(_ lost: [LostCreate]) -> [Group] {
    var groups: [Group] = []
    for create in lost {
      guard let sent = create.sent else { continue }
      if let i = groups.firstIndex(where: { $0.sent == sent }) {
        let (known, more) = (groups[i].times, create.times)
        groups[i].times = min(known.lowerBound, more.lowerBound)...max(known.upperBound, more.upperBound)
        groups[i].entryIds.append(create.entryId)
      } else {
        groups.append(Group(sent: sent, times: create.times, entryIds: [create.entryId]))
      }
    }
    return groups
  }

  private static func isInTime(_ candidate: CreateCandidate, _ times: ClosedRange<Int64>) -> Bool {
    candidate.createdAt.map(times.contains) ?? true
  }

  // MARK: Comparing

  private static func equals(_ sent: JSONObject, _ server: JSONObject) -> Bool {
    sent.allSatisfy { same($0.value, server[$0.key] ?? .null) }
  }

  /// Returns whether at least half of the meaningful values are equal.
  private static func resembles(_ sent: JSONObject, _ server: JSONObject) -> Bool {
    let telling = sent.filter { !isEmpty($0.value) && $0.value.boolValue == nil }
    let same = telling.filter { self.same($0.value, server[$0.key] ?? .null) }
    return telling.isEmpty || 2 * same.count >= telling.count
  }

  /// Returns whether a record, which may lack some fields, may be the result of a create.
  static func mayHaveMade(_ sent: JSONObject, _ record: JSONObject) -> Bool {
    resembles(sent.filtered { record[$0.key] != nil }, record)
  }

  /// Compares a sent value with the stored one: servers trim texts, store empty ones as null, and
  /// write instants in any notation.
  static func same(_ sent: JSONValue, _ server: JSONValue) -> Bool {
    if isEmpty(sent) || isEmpty(server) { return isEmpty(sent) && (isEmpty(server) || server == false) }
    if let a = sent.doubleValue, let b = server.doubleValue { return a == b || sent.isSameNumber(as: server) }
    guard let a = sent.stringValue, let b = server.stringValue else { return sent == server }
    if trimmed(a) == trimmed(b) { return true }
    guard let first = TimeStamp.milliseconds(a), let second = TimeStamp.milliseconds(b) else { return false }
    return first / 1000 == second / 1000
  }

  private static func isEmpty(_ value: JSONValue) -> Bool {
    value.isNull || value.stringValue.map { trimmed($0).isEmpty } ?? false
  }

  private static func trimmed(_ text: String) -> Substring {
    let blank: (Character) -> Bool = { $0 == " " || $0 == "\n" || $0 == "\r" || $0 == "\t" || $0 == "\r\n" }
    var rest = text[...]
    rest = rest.drop(while: blank)
    while let last = rest.last, blank(last) { rest.removeLast() }
    return rest
  }
}
