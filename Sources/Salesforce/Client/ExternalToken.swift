import JSON
import RestClient

/// A source of sessions that another program owns: that program signs in and renews, and this type asks it for the result.
public struct ExternalToken: Sendable, Equatable {
  /// The name in messages, such as `the sf CLI's org 'prod'`. Two sources with the same name are equal.
  public let name: String
  /// Gets the current session, or a different one if the org refused the token `refused`. May take a minute.
  public let ask: @Sendable (_ refused: String?) async throws -> Session

  public init(name: String, ask: @escaping @Sendable (_ refused: String?) async throws -> Session) {
    self.name = name
    self.ask = ask
  }

  public static func == (a: ExternalToken, b: ExternalToken) -> Bool { a.name == b.name }

  /// - Throws: ``RestError`` `.sessionExpired` if the source returns the refused token again. Other errors of the source are
  ///   passed on, as `.notAuthenticated` unless they are a ``RestError`` already.
  func session(refused: String?) async throws(RestError) -> Session {
    let session: Session
    do {
      session = try await ask(refused)
    } catch let error as RestError {
      throw error
    } catch {
      throw RestError(code: .notAuthenticated, message: "\(name): \(error)", outcome: .notSent)
    }
    guard session.accessToken != refused else {
      throw RestError(
        code: .sessionExpired, message: "\(name) returned the same access token that the org has refused: sign in again there",
        outcome: .notSent)
    }
    return session
  }
}

extension Session {
  /// Creates a session from a token that another program obtained.
  ///
  /// - Parameter identityURL: The `id` of the token response if it is known; it names user and org. Without it the org is read
  ///   from the part of the token before the exclamation mark.
  public init(givenToken: String, instanceURL: String, identityURL: String? = nil) {
    let instance = WebAddress.withoutTrailingSlashes(instanceURL)
    self.init(accessToken: givenToken, instanceURL: instance, loginURL: instance, identityURL: identityURL ?? "")
    let path = (identityURL ?? "").split(separator: "/")
    if path.count >= 2 {
      (orgId, userId) = (String(path[path.count - 2]), String(path[path.count - 1]))
    } else {
      orgId = RecordId.org(inToken: givenToken) ?? ""
    }
    flow = "token"
  }
}

/// Ids of records and orgs. The first 15 characters are case-sensitive; the last three of the 18-character form encode which
/// are capitals.
enum RecordId {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345".utf8)

  /// Returns the 18-character org id in an access token; nil for tokens of another form.
  static func org(inToken token: String) -> String? {
    guard token.hasPrefix("00D"), let mark = token.firstIndex(of: "!") else { return nil }
    return complete(token[..<mark])
  }

  /// Returns the 18-character form of an id; nil if the text is not an id.
  static func complete(_ id: some StringProtocol) -> String? {
    let bytes = Array(id.utf8)
    guard bytes.count == 15 || bytes.count == 18, bytes.allSatisfy({ isLetterOrDigit($0) }) else { return nil }
    let suffix = stride(from: 0, to: 15, by: 5).map { start in
      let capitals = (0..<5).reduce(0) { isCapital(bytes[start + $1]) ? $0 | 1 << $1 : $0 }
      return digits[capitals]
    }
    return String(decoding: bytes.prefix(15) + suffix, as: UTF8.self)
  }

  private static func isCapital(_ byte: UInt8) -> Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    isCapital(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
