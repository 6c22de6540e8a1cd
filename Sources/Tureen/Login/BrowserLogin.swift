import RestClient
import Salesforce

/// One browser sign-in, from its URL to the authorization code. Whichever comes first decides the outcome: the browser's
/// redirect, a pasted answer, the time limit, or a cancellation by the caller.
final class BrowserLogin: Sendable {
  enum Outcome: Sendable {
    /// The authorization code, not exchanged yet.
    case code(String)
    case refused(RestError)
    /// The time limit has expired.
    case late
    case cancelled
  }

  let request: AuthorizationRequest
  private let outcome: OneTimeValue<Outcome>
  /// nil if the answer must be pasted.
  private let listener: LoopbackListener?

  private init(_ request: AuthorizationRequest, _ outcome: OneTimeValue<Outcome>, _ listener: LoopbackListener?) {
    self.request = request
    self.outcome = outcome
    self.listener = listener
  }

  /// Starts a sign-in. The port, if any, is bound when this returns; show the URL only after that.
  ///
  /// - Parameter listens: True if the browser is on this machine. Has no effect unless the redirect leads to `localhost`.
  /// - Throws: ``HostError`` `.portInUse`.
  static func start(
    _ request: AuthorizationRequest, listens: Bool, limits: LoopbackListener.Limits
  ) async throws(HostError) -> BrowserLogin {
    let outcome = OneTimeValue<Outcome>()
    guard listens, let redirect = LoopbackRedirect(request.redirectURI) else { return BrowserLogin(request, outcome, nil) }
    let listener = try await LoopbackListener.start(request, at: redirect, limits: limits) { answer in
      switch answer {
      case .code(let code): outcome.settle(.code(code))
      case .refused(let error): outcome.settle(.refused(error))
      case .foreign: break
      }
    }
    return BrowserLogin(request, outcome, listener)
  }

  var isListening: Bool { listener != nil }

  /// Takes a pasted answer.
  /// - Returns: Why the text is unusable; nil if it decided the sign-in.
  func paste(_ text: String) -> String? {
    switch request.answer(pasted: text) {
    case .code(let code): outcome.settle(.code(code))
    case .refused(let error): outcome.settle(.refused(error))
    case .foreign(let why): return why
    }
    return nil
  }

  /// Ends the sign-in because its time limit has expired.
  func expire() { outcome.settle(.late) }

  /// Cancels the sign-in. Does nothing if it is already decided.
  func cancel() { outcome.settle(.cancelled) }

  /// Waits for the outcome. Cancelling the task cancels the sign-in.
  func decision() async -> Outcome {
    await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      outcome.settle(.cancelled)
    }
  }

  /// Sends the final page to a waiting browser, and frees the port.
  func end(_ page: LoginPage) async {
    await listener?.end(page)
    await listener?.close()
  }
}
