import JSON

/// An attempt to get a token or to sign in at a page. Unknown names are omitted: they may be
/// secrets in the wrong field.
public struct SandboxSignIn: Sendable, Equatable {
  /// Counts from 1.
  public internal(set) var sequence = 0
  /// Seconds since 1970 UTC by the org's clock.
  public internal(set) var time: Int64 = 0
  public internal(set) var username: String?
  public internal(set) var client: String?
  /// As in the request log; `browser` for the sign-in page, `soap` for SOAP.
  public let grant: String
  /// `success`, or the code of the error response.
  public internal(set) var result = "success"
  /// The error's description.
  public internal(set) var message: String?

  init(grant: String) { self.grant = grant }

  mutating func refused(_ refusal: OAuthRefusal) {
    result = refusal.error
    message = refusal.description
  }

  var json: JSONValue {
    [
      "sequence": .integer(Int64(sequence)), "time": .integer(time), "user": username.map { .string($0) } ?? .null,
      "client": client.map { .string($0) } ?? .null, "grant": .string(grant), "result": .string(result),
      "message": message.map { .string($0) } ?? .null,
    ]
  }
}

/// The most recent sign-ins, like Salesforce's login history. On the org's queue.
struct SignInHistory {
  private(set) var entries: [SandboxSignIn] = []
  private var count = 0

  mutating func add(_ signIn: SandboxSignIn, now: Int64) {
    count += 1
    var signIn = signIn
    signIn.sequence = count
    signIn.time = now
    if entries.count >= 2 * Tuning.rememberedSignIns { entries.removeFirst(Tuning.rememberedSignIns) }
    entries.append(signIn)
  }

  var recent: [SandboxSignIn] { Array(entries.suffix(Tuning.rememberedSignIns)) }
}
