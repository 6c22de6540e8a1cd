import RestClient
import Salesforce

/// One sign-in in a browser, from its address to its code. The first to decide it does: the browser, a person who pastes the
/// answer, the time limit, or the caller who gives it up.
final class BrowserLogin: Sendable {
  enum Outcome: Sendable {
    /// Not exchanged yet.
    case code(String)
    case refused(RestError)
    /// The time is over.
    case late
    case cancelled
  }

  let request: AuthorizationRequest
  private let outcome: OneTimeValue<Outcome>
  /// nil where the answer has to be pasted.
  private let listener: LoopbackListener?

  private init(_ request: AuthorizationRequest, _ outcome: OneTimeValue<Outcome>, _ listener: LoopbackListener?) {
    self.request = request
    self.outcome = outcome
    self.listener = listener
  }

  /// The port, where there is one, is bound when this returns: only then may the address be shown.
  ///
  /// - Parameter listens: Whether the browser is on this machine. Only a redirect to `localhost` can be listened for.
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

  /// Takes what a person pasted.
  /// - Returns: Why it is of no use; nil when it decided the sign-in.
  func paste(_ text: String) -> String? {
    switch request.answer(pasted: text) {
    case .code(let code): outcome.settle(.code(code))
    case .refused(let error): outcome.settle(.refused(error))
    case .foreign(let why): return why
    }
    return nil
  }

  /// The time is over.
  func expire() { outcome.settle(.late) }

  /// Nothing happens when it is decided already.
  func cancel() { outcome.settle(.cancelled) }

  /// Waits for the decision; a cancelled task gives the sign-in up.
  func decision() async -> Outcome {
    await withTaskCancellationHandler {
      await outcome.value()
    } onCancel: {
      outcome.settle(.cancelled)
    }
  }

  /// Shows the browser how it ended, where it waits for that, and frees the port.
  func end(_ page: LoginPage) async {
    await listener?.end(page)
    await listener?.close()
  }
}
