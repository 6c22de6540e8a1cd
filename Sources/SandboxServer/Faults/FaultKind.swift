import JSON

/// A way in which a request can go wrong: its name, what it takes, what it does.
public struct FaultKind: Sendable {
  /// Where it happens.
  public enum Layer: String, Sendable, CaseIterable {
    /// When the bytes come.
    case time
    /// Whether they come.
    case connection
    /// What they say.
    case body
    /// An answer that is not the service's.
    case status
    /// Inside the service, which refuses, forgets or delays something.
    case service
  }

  public let name: String
  public let layer: Layer
  /// One sentence.
  public let summary: String
  public let parameters: [FaultParameter]
  /// One that works, for trying every kind in turn. It takes a few milliseconds at most, except `hang`, which lasts until the
  /// client gives up, and a held `lateCommit`.
  public let sample: Fault
  /// Requests it can happen to; a rule does not count others.
  let applies: @Sendable (ServerRequest) -> Bool
  let effect: @Sendable (FaultDraw) -> FaultEffect

  /// A kind that a service adds: `applies` says to which requests it can happen. With the effect `.service` the draw comes
  /// along in `ServerRequest.faults`, and the service does what it says.
  package init(
    _ name: String, _ layer: Layer, _ summary: String, _ parameters: [FaultParameter] = [], sample: JSONObject = [:],
    applies: @escaping @Sendable (ServerRequest) -> Bool = { _ in true },
    effect: @escaping @Sendable (FaultDraw) -> FaultEffect
  ) {
    self.name = name
    self.layer = layer
    self.summary = summary
    self.parameters = parameters
    self.sample = Fault(name, sample)
    self.applies = applies
    self.effect = effect
  }

  /// The parameters with what holds for those left out.
  /// - Throws: ``SandboxError`` `INVALID_FAULT`.
  func resolved(_ given: JSONObject) throws(SandboxError) -> JSONObject {
    var values: JSONObject = [:]
    for (name, value) in given {
      guard let parameter = parameters.first(where: { $0.name == name }) else { throw unknown(name) }
      if !value.isNull { values[name] = try parameter.checked(value) }
    }
    for parameter in parameters where values[parameter.name] == nil && !parameter.fallback.isNull {
      values[parameter.name] = try parameter.checked(parameter.fallback)
    }
    return values
  }

  private func unknown(_ name: String) -> SandboxError {
    let names = (parameters.map(\.name) + FaultRule.keys).joined(separator: ", ")
    return .fault(name, "is not known for the fault '\(self.name)'; it takes \(names)")
  }
}

/// One time that a fault happens: the parameters, the request, and randomness of its own.
package struct FaultDraw: Sendable {
  package let kind: String
  /// Those left out have their defaults here.
  package let parameters: JSONObject
  let request: ServerRequest
  /// Seconds since 1970 UTC by the server's clock.
  package let now: Int64
  /// The same for the same rule, seed and firing.
  package let seed: UInt64

  package init(kind: String, parameters: JSONObject, request: ServerRequest, now: Int64, seed: UInt64) {
    self.kind = kind
    self.parameters = parameters
    self.request = request
    self.now = now
    self.seed = seed
  }

  var random: SeedRandom { SeedRandom(seed) }
  package func integer(_ name: String) -> Int? { parameters[name]?.integerValue.map { Int($0) } }
  package func number(_ name: String) -> Double? { parameters[name]?.doubleValue }
  package func text(_ name: String) -> String? { parameters[name]?.stringValue }
  package func flag(_ name: String) -> Bool { parameters[name]?.boolValue ?? false }
  package func texts(_ name: String) -> [String] { (parameters[name]?.arrayValue ?? []).compactMap(\.stringValue) }
  package func integers(_ name: String) -> [Int] {
    (parameters[name]?.arrayValue ?? []).compactMap { $0.integerValue.map { Int($0) } }
  }

  /// One of a `.range`, chosen at random.
  func drawn(_ name: String) -> Int {
    let ends = integers(name)
    guard ends.count == 2, ends[0] <= ends[1] else { return 0 }
    var random = random
    return ends[0] + random.below(ends[1] - ends[0] + 1)
  }

  /// Bytes that `bytes` or `share` mean for a body of so many; all of it when neither is given.
  func count(of body: Int) -> Int {
    if let bytes = integer("bytes") { return min(bytes, body) }
    return number("share").map { min(body, Int(Double(body) * $0)) } ?? body
  }
}

/// What a fault does to the exchange of one request.
package enum FaultEffect: Sendable {
  case delay(milliseconds: Int, clock: Fault.Timing)
  /// No answer at all. `executed`: the service is asked all the same.
  case silence(executed: Bool, ending: FaultDelivery.Ending)
  /// This in place of the service's answer. The service is asked all the same when `executed`.
  case answer(ServerReply, executed: Bool)
  /// As `answer`, in the service's own words, with these headers after its own.
  case refuse(ServerRefusal, headers: [(name: String, value: String)], executed: Bool)
  /// Changes the answer. It is asked for without compression.
  case change(@Sendable (inout ServerReply) -> Void)
  /// Changes how the answer is sent.
  case deliver(@Sendable (inout FaultDelivery, _ body: Int) -> Void)
  /// The service knows what to do. `isHeard`: its answer reaches the client; else the connection is closed.
  case service(isHeard: Bool)
}
