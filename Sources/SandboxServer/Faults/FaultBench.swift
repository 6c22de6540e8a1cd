import JSON
import Synchronization

/// The fault rules of one server, and the seed for random decisions. Any thread.
///
/// Every rule that matches a request and whose condition holds takes effect. Delays add up; if
/// several rules replace the response or end the connection, the rule added first wins. The same
/// rules, seed and order of requests give the same faults: each rule has its own random sequence,
/// so adding a rule does not change the others.
public final class FaultBench: Sendable {
  private struct Entry {
    let compiled: CompiledRule
    var state: ActiveFault
    var random: SeedRandom
  }
  private struct State {
    var entries: [Entry] = []
    var seed: UInt64 = 1
    var lastId = 0
    var silenceObserver: (@Sendable () -> Void)?
  }

  /// Every kind this server supports: the general HTTP kinds first, then those of the mounted
  /// services.
  public let kinds: [FaultKind]
  private let state = Mutex(State())

  init(kinds: [FaultKind]) { self.kinds = kinds }

  /// Adds a rule, which takes effect at once.
  ///
  /// - Returns: Its id.
  /// - Throws: ``SandboxError`` `INVALID_FAULT`; the message names the field and its allowed
  ///   values.
  @discardableResult
  public func add(_ rule: FaultRule) throws(SandboxError) -> Int { try add([rule])[0] }

  /// Adds all rules, or none if one of them is invalid.
  @discardableResult
  public func add(_ rules: [FaultRule]) throws(SandboxError) -> [Int] {
    var compiled: [CompiledRule] = []
    for rule in rules { compiled.append(try CompiledRule(rule, kinds)) }
    return try state.withLock { state throws(SandboxError) in
      guard state.entries.count + compiled.count <= ServerTuning.faultRules else {
        throw .fault("rules", "can hold at most \(ServerTuning.faultRules) rules; remove some")
      }
      return compiled.map { compiled in
        state.lastId += 1
        let id = state.lastId
        let random = Self.random(id, state.seed)
        state.entries.append(
          Entry(compiled: compiled, state: ActiveFault(id: id, rule: compiled.rule, matched: 0, fired: 0), random: random))
        return id
      }
    }
  }

  /// Adds a rule, as in `faults.add(.dropAfterResponse(), when: .nth(3), path:
  /// "composite/sobjects")`.
  @discardableResult
  public func add(
    _ fault: Fault, when condition: FaultCondition = .always, path: String? = nil, method: String? = nil, host: String? = nil,
    session: String? = nil, contains: String? = nil, times: Int? = nil
  ) throws(SandboxError) -> Int {
    try add(
      FaultRule(
        fault, when: condition, path: path, method: method, host: host, session: session, contains: contains, times: times))
  }

  /// - Returns: false if there is no such rule.
  @discardableResult
  public func remove(_ id: Int) -> Bool {
    state.withLock { state in
      guard let index = state.entries.firstIndex(where: { $0.state.id == id }) else { return false }
      state.entries.remove(at: index)
      return true
    }
  }

  /// Removes every rule and restarts the ids at 1; keeps the seed.
  public func clear() {
    state.withLock { state in
      state.entries.removeAll()
      state.lastId = 0
    }
  }

  /// Restarts the counters and the random sequences, as if no request had come; keeps the rules.
  public func reset(seed: UInt64? = nil) {
    state.withLock { state in
      state.seed = seed ?? state.seed
      for index in state.entries.indices {
        state.entries[index].state.matched = 0
        state.entries[index].state.fired = 0
        state.entries[index].random = Self.random(state.entries[index].state.id, state.seed)
      }
    }
  }

  public var seed: UInt64 { state.withLock { $0.seed } }

  /// The active rules, in the order they were added.
  public var active: [ActiveFault] { state.withLock { $0.entries.map(\.state) } }

  /// Counts a request and returns the faults that apply to it.
  func plan(for request: ServerRequest, now: Int64) -> FaultPlan {
    state.withLock { state in
      var plan = FaultPlan()
      for index in state.entries.indices where state.entries[index].compiled.fits(request) {
        let compiled = state.entries[index].compiled
        state.entries[index].state.matched += 1
        let happens = compiled.rule.condition.holds(
          for: state.entries[index].state.matched, &state.entries[index].random)
        guard happens, state.entries[index].state.fired < compiled.rule.times ?? .max else { continue }
        state.entries[index].state.fired += 1
        let seed = state.entries[index].random.next()
        plan.add(
          FaultDraw(
            kind: compiled.kind.name, parameters: compiled.parameters, request: request, now: now, seed: seed), compiled.kind)
      }
      return plan
    }
  }

  /// Sets a function that is called when a request hangs: it gets no answer, and the service has handled it if the fault says so.
  package func observeSilence(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.silenceObserver = observer } }

  func noteSilence() { state.withLock { $0.silenceObserver }?() }

  private static func random(_ id: Int, _ seed: UInt64) -> SeedRandom {
    var first = SeedRandom(seed &+ UInt64(id) &* 0x9E37_79B9)
    return SeedRandom(first.next())
  }
}
