/// What a person, or the program around the command, hears while a sign-in goes on.
public enum LoginNews: Sendable, Equatable {
  /// The address to open in a browser.
  /// - Parameter isListening: Whether the browser's answer comes by itself; else it has to be pasted.
  case authorize(url: String, redirectURI: String, isListening: Bool)
  /// Nothing has come for a while.
  case hint(String)
  /// What was pasted is of no use; the text says why.
  case refusedPaste(String)
  case warning(String)
}

/// Who is signed in, and where that is kept.
public struct LoginAccount: Sendable, Equatable {
  /// What the org is called here.
  public let org: String
  public let username: String
  public let displayName: String?
  public let userId: String
  public let orgId: String
  public let instanceURL: String
  public let flow: LoginFlow
  /// Whether commands mean this org when none is named.
  public let isDefault: Bool
  /// The names of the org's and the user's folder.
  let folder: String, userFolder: String
}
