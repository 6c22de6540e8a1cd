import JSON

/// A create whose answer never came.
struct LostCreate: Sendable {
  let entryId: Int64
  /// What was sent; nil when nobody knows any more: an older build sent it, and the entry was edited since.
  let sent: JSONObject?
  /// When its record may have been created, ms since 1970 UTC by the server's clock.
  let times: ClosedRange<Int64>
}

/// A record on the server that may be one of them.
struct CreateCandidate: Sendable {
  let id: String
  let fields: JSONObject
  /// Ms since 1970 UTC by the server's clock; nil when it does not say.
  let createdAt: Int64?
  /// Another entry of the soup stands for it.
  let isKnownHere: Bool
}

enum LostCreateDecision: Sendable, Equatable {
  case adopt(id: String)
  case sendAgain
  /// Also at once: with what identifies it nothing is made twice.
  case repeatWithKey
  /// It may still appear.
  case wait
  case inDoubt
}

/// Finds out which creates reached the server. What cannot be decided stays in doubt: sending again could create twice.
enum LostCreateMatcher {
  static func decide(_ lost: [LostCreate], _ candidates: [CreateCandidate]) -> [Int64: LostCreateDecision] {
    var decisions: [Int64: LostCreateDecision] = [:]
    var free = candidates
    // Entries with the same content are interchangeable: as many are adopted as the server has.
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

  /// No record equals it: it never arrived, unless one is left that the server, or an edit here, may have altered.
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

  /// At least half of the values that say something are the same.
  private static func resembles(_ sent: JSONObject, _ server: JSONObject) -> Bool {
    let telling = sent.filter { !isEmpty($0.value) && $0.value.boolValue == nil }
    let same = telling.filter { self.same($0.value, server[$0.key] ?? .null) }
    return telling.isEmpty || 2 * same.count >= telling.count
  }

  /// Whether a record that need not have all fields may be what a create made.
  static func mayHaveMade(_ sent: JSONObject, _ record: JSONObject) -> Bool {
    resembles(sent.filtered { record[$0.key] != nil }, record)
  }

  /// As the server stores it: texts without blanks around them, empty ones as null, instants in any notation.
  static func same(_ sent: JSONValue, _ server: JSONValue) -> Bool {
    if isEmpty(sent) || isEmpty(server) { return isEmpty(sent) && (isEmpty(server) || server == false) }
    if let a = sent.doubleValue, let b = server.doubleValue { return a == b }
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
