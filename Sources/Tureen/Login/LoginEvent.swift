/// An event during a sign-in, for the person or the calling program.
public enum LoginEvent: Sendable, Equatable {
  /// The URL to open in a browser.
  /// - Parameter isListening: True if Tureen receives the browser's redirect; false if the answer must be pasted.
  case authorize(url: String, redirectURI: String, isListening: Bool)
  /// Advice after some time without an answer.
  case hint(String)
  /// Pasted text is unusable; the text says why.
  case refusedPaste(String)
  case warning(String)
}

/// The account of a completed sign-in.
public struct LoginAccount: Sendable, Equatable {
  /// The name of the org in the home.
  public let org: String
  public let username: String
  public let displayName: String?
  public let userId: String
  public let orgId: String
  public let instanceURL: String
  public let flow: LoginFlow
  /// True if commands use this org when none is named.
  public let isDefault: Bool
  /// The names of the org's and the user's folder.
  let folder: String, userFolder: String
}
