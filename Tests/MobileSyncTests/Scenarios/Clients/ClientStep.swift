import TestSupport

/// The hazards of scenarios with two clients. Each can be switched off by its name.
enum ClientHazard: String, CaseIterable, Sendable {
  /// The application saves what it read some time ago.
  case staleCopies
  /// The application writes between a request and its answer.
  case editsInFlight
  /// Records are deleted on both sides, and ghosts are searched for.
  case deletes
  /// Somebody else writes in the same second of the server's clock.
  case sameSecond
  /// Every device's clock is minutes off the server's.
  case clocks
  /// Changes on the server become visible later than their stamps.
  case lateCommits
  /// Requests or answers are lost, or temporarily refused.
  case lostAnswers
  /// The other client syncs at the same time.
  case crossing
}

/// The arrangement of the clients.
enum ClientLayout: String, CaseIterable, Sendable {
  /// Two processes on one store: each has its own connection, manager and leases.
  case oneStore
  /// Two devices.
  case twoStores
}

/// One step, decided beforehand. Its subject is a number, taken modulo the number of existing
/// subjects.
indirect enum ClientStep: Sendable {
  enum Word: String, Sendable { case up, down, ghosts }

  case wait(seconds: Int)
  case serverCreates
  case serverChanges(Int)
  case serverDeletes(Int)
  case serverCreatesLate(seconds: Int)
  case serverChangesLate(Int, seconds: Int)
  case creates(Int)
  case changes(Int, Int)
  case deletes(Int, Int)
  /// Reads an entry and keeps the copy.
  case copies(Int, Int)
  /// Changes a copy and saves it.
  case savesCopy(Int, Int)
  case deletesCopy(Int, Int)
  case syncs(Int, Word, [ClientEvent])
}

/// An event at one request of a run.
struct ClientEvent: Sendable {
  enum What: Sendable {
    case fault(DirectFault)
    case before(ClientStep)
    /// After the server has acted and before the client knows.
    case after(ClientStep)
  }

  /// Counted from 1.
  let request: Int
  let what: What
}

extension ClientStep: CustomStringConvertible {
  var description: String {
    switch self {
    case .wait(let seconds): "\(seconds) s go by"
    case .serverCreates: "the server gets a record"
    case .serverChanges(let n): "the server's record \(n) is changed by another user"
    case .serverDeletes(let n): "the server's record \(n) is deleted by another user"
    case .serverCreatesLate(let seconds): "the server gets a record, committed \(seconds) s later"
    case .serverChangesLate(let n, let seconds):
      "the server's record \(n) is changed by another user, committed \(seconds) s later"
    case .creates(let client): "client \(client) creates an entry"
    case .changes(let client, let n): "client \(client) changes entry \(n)"
    case .deletes(let client, let n): "client \(client) deletes entry \(n)"
    case .copies(let client, let n): "client \(client) reads a copy of entry \(n)"
    case .savesCopy(let client, let n): "client \(client) changes and saves its copy \(n)"
    case .deletesCopy(let client, let n): "client \(client) saves its copy \(n) as deleted"
    case .syncs(let client, let word, let events):
      "client \(client) syncs \(word.rawValue)" + events.map { "\n    request \($0.request): \($0.what)" }.joined()
    }
  }
}

extension ClientEvent.What: CustomStringConvertible {
  var description: String {
    switch self {
    case .fault(let fault): "\(fault)"
    case .before(let step): "before it is sent, \(step)"
    case .after(let step): "before its answer comes, \(step)"
    }
  }
}

/// A whole scenario. Everything in it follows from its seed.
struct ClientScript: Sendable {
  enum Mode: String, Sendable, CaseIterable { case overwrite, leaveIfChanged, merge }

  let layout: ClientLayout
  let hazards: Set<ClientHazard>
  let seed: UInt64
  var mode: Mode
  var upload: UploadKind
  /// Seconds by which the clients' clocks are ahead of the server's.
  var clocks: [Int]
  var steps: [ClientStep]

  private static let length = 12

  init(layout: ClientLayout, hazards: Set<ClientHazard>, seed: UInt64) {
    self.layout = layout
    self.hazards = hazards
    self.seed = seed
    var maker = ClientScriptMaker(hazards: hazards, random: SeededGenerator(state: seed))
    mode = Mode.allCases[maker.number(Mode.allCases.count)]
    upload = UploadKind.allCases[maker.number(UploadKind.allCases.count)]
    clocks = (0..<2).map { _ in maker.clock() }
    // Two processes on one store are on one machine.
    if layout == .oneStore { clocks[1] = clocks[0] }
    maker.mayCrossInside = layout == .oneStore || upload == .plain
    steps = [.serverCreates, .serverCreates, .creates(0), .syncs(0, .down, []), .syncs(1, .down, [])]
    for _ in 0..<Self.length { steps.append(maker.step()) }
  }
}

/// Generates steps.
struct ClientScriptMaker {
  let hazards: Set<ClientHazard>
  var random: SeededGenerator
  /// Whether another device may write between the comparison and the update. The server applies the
  /// update of a single record only if nothing changed since; for several in one request it knows
  /// no such condition.
  var mayCrossInside = true

  mutating func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private mutating func among(_ choices: [ClientStep]) -> ClientStep { choices[number(choices.count)] }

  mutating func clock() -> Int {
    let seconds = Int.random(in: -1_800...1_800, using: &random)
    return hazards.contains(.clocks) ? seconds : 0
  }

  /// Without `sameSecond`, time passes before each step.
  mutating func step() -> ClientStep {
    let client = number(2)
    switch number(10) {
    case 0: return .wait(seconds: 1 + number(90))
    case 1, 2: return server()
    case 3, 4, 5: return edit(client)
    case 6, 7, 8: return .syncs(client, .up, events(client, isDown: false))
    default:
      let word: ClientStep.Word = hazards.contains(.deletes) && number(3) == 0 ? .ghosts : .down
      return .syncs(client, word, events(client, isDown: true))
    }
  }

  private mutating func server() -> ClientStep {
    let n = number(16), seconds = 1 + number(45)
    var choices: [ClientStep] = [.serverCreates, .serverChanges(n), .serverChanges(n)]
    if hazards.contains(.deletes) { choices.append(.serverDeletes(n)) }
    if hazards.contains(.lateCommits) {
      choices += [.serverCreatesLate(seconds: seconds), .serverChangesLate(n, seconds: seconds)]
    }
    return among(choices)
  }

  private mutating func edit(_ client: Int) -> ClientStep {
    let n = number(16)
    var choices: [ClientStep] = [.creates(client), .changes(client, n), .changes(client, n)]
    if hazards.contains(.deletes) { choices.append(.deletes(client, n)) }
    if hazards.contains(.staleCopies) {
      choices += [.copies(client, n), .copies(client, n), .savesCopy(client, n), .savesCopy(client, n)]
      if hazards.contains(.deletes) { choices.append(.deletesCopy(client, n)) }
    }
    return among(choices)
  }

  /// At pages after the first, a run writes while it fetches: no events happen then, or their order
  /// would be random.
  private mutating func events(_ client: Int, isDown: Bool) -> [ClientEvent] {
    var events: [ClientEvent] = []
    func request() -> Int { isDown ? 1 : 1 + number(4) }
    if hazards.contains(.editsInFlight), number(2) == 0 {
      events.append(ClientEvent(request: request(), what: .after(edit(client))))
    }
    if hazards.contains(.sameSecond), number(2) == 0 {
      let step = server()
      events.append(ClientEvent(request: request(), what: number(2) == 0 ? .before(step) : .after(step)))
    }
    if hazards.contains(.crossing), number(2) == 0 {
      let step = ClientStep.syncs(1 - client, number(3) == 0 ? .down : .up, [])
      if isDown || mayCrossInside {
        events.append(ClientEvent(request: request(), what: number(2) == 0 ? .before(step) : .after(step)))
      } else {
        events.append(ClientEvent(request: 1, what: .before(step)))
      }
    }
    if hazards.contains(.lostAnswers), number(2) == 0 {
      let faults: [DirectFault] = [.lost, .lost, .notSent, .unavailable, .locked, .failItems, .forgetQueries]
      events.append(ClientEvent(request: 1 + number(4), what: .fault(faults[number(faults.count)])))
    }
    if hazards.contains(.lateCommits), !isDown, number(2) == 0 {
      events.append(ClientEvent(request: 1 + number(3), what: .fault(.late(seconds: 1 + number(45)))))
    }
    return events
  }
}
