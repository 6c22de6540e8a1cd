import JSON

/// When the fault of a rule occurs, by the number of the matching request. The first matching
/// request has number 1.
public enum FaultCondition: Sendable, Equatable {
  case always
  /// Requests with these numbers.
  case numbers([Int])
  /// Every k-th request.
  case every(Int)
  /// The first n requests.
  case first(Int)
  /// All requests after the first n.
  case after(Int)
  /// With this probability, 0...1, drawn from the bench's seed.
  case probability(Double)

  /// Creates a condition for the n-th request, or for several: `.nth(2, 5)`.
  public static func nth(_ numbers: Int...) -> FaultCondition { .numbers(numbers) }

  func holds(for number: Int, _ random: inout SeedRandom) -> Bool {
    switch self {
    case .always: return true
    case .numbers(let numbers): return numbers.contains(number)
    case .every(let step): return number % step == 0
    case .first(let count): return number <= count
    case .after(let count): return number > count
    case .probability(let share): return Double(random.next() >> 11) / 0x1p53 < share
    }
  }

  /// - Throws: ``SandboxError`` `INVALID_FAULT`.
  func checked() throws(SandboxError) {
    let range = 1...ServerTuning.faultCount
    switch self {
    case .always: break
    case .numbers(let numbers):
      guard !numbers.isEmpty, numbers.allSatisfy(range.contains) else { throw Self.wrong("nth", "an integer or several") }
    case .every(let step): guard range.contains(step) else { throw Self.wrong("every", "an integer") }
    case .first(let count): guard range.contains(count) else { throw Self.wrong("first", "an integer") }
    case .after(let count): guard range.contains(count) else { throw Self.wrong("after", "an integer") }
    case .probability(let share):
      guard (0...1).contains(share) else { throw .fault("probability", "must be a number, 0 to 1") }
    }
  }

  private static func wrong(_ field: String, _ what: String) -> SandboxError {
    .fault(field, "must be \(what), 1 to \(ServerTuning.faultCount)")
  }
}

/// A fault, the condition for it, and the requests it applies to.
public struct FaultRule: Sendable, Equatable {
  public var fault: Fault
  public var condition: FaultCondition
  /// A pattern such as `/services/data/**` or `composite/sobjects`: `*` matches any text without a
  /// slash, `**` any text.
  public var path: String?
  public var method: String?
  /// The value of the `Host` header, with or without the port.
  public var host: String?
  /// An access token, or the digits that stand for it in the request log.
  public var session: String?
  /// Text that the decoded query or the body contains.
  public var contains: String?
  /// The maximum number of occurrences; nil for no limit.
  public var times: Int?

  public init(
    _ fault: Fault, when condition: FaultCondition = .always, path: String? = nil, method: String? = nil, host: String? = nil,
    session: String? = nil, contains: String? = nil, times: Int? = nil
  ) {
    self.fault = fault
    self.condition = condition
    self.path = path
    self.method = method
    self.host = host
    self.session = session
    self.contains = contains
    self.times = times
  }

  /// Keys of a rule in addition to the parameters of its kind.
  static let keys = ["kind"] + conditionKeys + ["path", "method", "host", "session", "contains", "times"]
  static let conditionKeys = ["nth", "every", "first", "after", "probability"]
  static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
}

/// An active rule with its counters.
public struct ActiveFault: Sendable, Equatable {
  /// Counts from 1. Ids are not reused until the bench is cleared.
  public let id: Int
  public let rule: FaultRule
  /// How many requests matched, and how often the fault occurred.
  public internal(set) var matched: Int, fired: Int
}

/// A rule whose fields have been checked and resolved.
struct CompiledRule: Sendable {
  let rule: FaultRule
  let kind: FaultKind
  let parameters: JSONObject
  private let path: PathPattern?

  init(_ rule: FaultRule, _ kinds: [FaultKind]) throws(SandboxError) {
    guard let kind = kinds.first(where: { $0.name == rule.fault.kind }) else {
      throw .fault("kind", "must be one of \(kinds.map(\.name).joined(separator: ", ")), got \"\(rule.fault.kind)\"")
    }
    try rule.condition.checked()
    if let method = rule.method, !FaultRule.methods.contains(method.uppercased()) {
      throw .fault("method", "must be one of \(FaultRule.methods.joined(separator: ", ")), got \"\(method)\"")
    }
    if let times = rule.times, !(1...ServerTuning.faultCount).contains(times) {
      throw .fault("times", "must be an integer, 1 to \(ServerTuning.faultCount), got \(times)")
    }
    self.rule = rule
    self.kind = kind
    parameters = try kind.resolved(rule.fault.parameters)
    if let text = rule.path { path = try PathPattern(text) } else { path = nil }
  }

  func fits(_ request: ServerRequest) -> Bool {
    if let path, !path.matches(request.path) { return false }
    if let method = rule.method, method.uppercased() != request.method { return false }
    if let host = rule.host?.lowercased() {
      let asked = request.header("host")?.lowercased() ?? ""
      guard asked == host || asked.prefix(while: { $0 != ":" }) == host else { return false }
    }
    if let session = rule.session, session != request.sessionMark, session != request.sessionToken { return false }
    if let text = rule.contains, !request.holds(text) { return false }
    return kind.applies(request)
  }
}

extension ServerRequest {
  /// The credentials in the `Authorization` header.
  package var sessionToken: String? {
    header("authorization")?.split(separator: " ", maxSplits: 1).last.map(String.init)
  }

  /// Eight hexadecimal digits that identify the session in logs; the token cannot be recovered from
  /// them.
  var sessionMark: String? {
    guard let token = sessionToken else { return nil }
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in token.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let digits = String(hash >> 32, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }

  fileprivate func holds(_ text: String) -> Bool {
    if query.contains(where: { "\($0.name)=\($0.value)".contains(text) }) { return true }
    return String(decoding: body, as: UTF8.self).contains(text)
  }
}
