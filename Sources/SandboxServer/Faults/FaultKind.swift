import JSON
import Support

/// A kind of fault: its name, its parameters and its effect.
public struct FaultKind: Sendable {
  /// What the fault affects.
  public enum Layer: String, Sendable, CaseIterable {
    /// When the bytes arrive.
    case time
    /// Whether the bytes arrive.
    case connection
    /// What the bytes say.
    case body
    /// A response that does not come from the service.
    case status
    /// The inside of the service, which refuses, loses or delays something.
    case service
  }

  public let name: String
  public let layer: Layer
  /// One sentence.
  public let summary: String
  public let parameters: [FaultParameter]
  /// A valid example, which lets tests try every kind. It takes a few milliseconds at most, except
  /// `hang`, which lasts until the client gives up, and a held `lateCommit`.
  public let sample: Fault
  /// Selects the requests the kind can affect; rules do not count the others.
  let applies: @Sendable (ServerRequest) -> Bool
  let effect: @Sendable (FaultDraw) -> FaultEffect

  /// Creates a kind for a service.
  ///
  /// With the effect `.service` the service itself causes the fault: it finds the draw in
  /// `ServerRequest.faults`.
  /// - Parameter applies: Selects the requests the kind can affect.
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

  /// Checks the given parameters and adds the defaults of the others.
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
    return .fault(name, "is not a parameter of the fault '\(self.name)'; use one of \(names)")
  }
}

/// One occurrence of a fault: its parameters, the request, and its own random sequence.
package struct FaultDraw: Sendable {
  package let kind: String
  /// Includes the defaults of omitted parameters.
  package let parameters: JSONObject
  let request: ServerRequest
  /// Seconds since 1970 UTC by the server's clock.
  package let now: Int64
  /// Depends only on the rule, the bench's seed and how often the rule has fired.
  package let seed: UInt64

  package init(kind: String, parameters: JSONObject, request: ServerRequest, now: Int64, seed: UInt64) {
    self.kind = kind
    self.parameters = parameters
    self.request = request
    self.now = now
    self.seed = seed
  }

  var random: SeedRandom { SeedRandom(seed) }
  package func integer(_ name: String) -> Int? { parameters[name]?.integerValue.map { Int(clamping: $0) } }
  package func number(_ name: String) -> Double? { parameters[name]?.doubleValue }
  package func text(_ name: String) -> String? { parameters[name]?.stringValue }
  package func flag(_ name: String) -> Bool { parameters[name]?.boolValue ?? false }
  package func texts(_ name: String) -> [String] { (parameters[name]?.arrayValue ?? []).compactMap(\.stringValue) }
  package func integers(_ name: String) -> [Int] {
    (parameters[name]?.arrayValue ?? []).compactMap { $0.integerValue.map { Int(clamping: $0) } }
  }

  /// Draws a number from the parameter, a `.range`.
  func drawn(_ name: String) -> Int {
    let ends = integers(name)
    guard ends.count == 2, ends[0] <= ends[1] else { return 0 }
    var random = random
    return ends[0] + random.below(ends[1] - ends[0] + 1)
  }

  /// The number of body bytes that `bytes` or `share` selects; the whole body if neither is given.
  func count(of body: Int) -> Int {
    if let bytes = integer("bytes") { return min(bytes, body) }
    return number("share").map { min(body, Int(saturating: Double(body) * $0)) } ?? body
  }
}

/// What a fault does to one request and its response.
package enum FaultEffect: Sendable {
  case delay(milliseconds: Int, clock: Fault.Timing)
  /// Sends no response. `executed`: the service handles the request all the same.
  case silence(executed: Bool, ending: FaultDelivery.Ending)
  /// Sends this response instead of the service's. `executed`: the service handles the request all
  /// the same.
  case answer(ServerReply, executed: Bool)
  /// Like `answer`, but the service renders the error; `headers` follow its own.
  case refuse(ServerRefusal, headers: [(name: String, value: String)], executed: Bool)
  /// Changes the response, which the service is asked to send uncompressed.
  case change(@Sendable (inout ServerReply) -> Void)
  /// Changes how the response is sent.
  case deliver(@Sendable (inout FaultDelivery, _ body: Int) -> Void)
  /// Lets the service cause the fault. If `isAnswered` is false, the connection is closed instead of
  /// answering.
  case service(isAnswered: Bool)
}
