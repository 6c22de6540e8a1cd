import JSON
import Salesforce

/// The result of a sign-in, to be stored in a home.
public struct RecordedLogin: Sendable {
  /// The session, with user name, flow and client id if they are known.
  public var session: Session
  /// The members of the user's credentials file. They name the places of secrets, but contain none.
  public var credentials: JSONObject
  /// The requested name of the org; nil for the name of the known org, or that of the host for a new org.
  public var orgName: String?
  /// nil if the org was not asked.
  public var isSandbox: Bool?
  /// True to make the org the default. The first org always becomes the default.
  public var makesDefault: Bool
  /// True to set aside the folder of another org, or of another user of the same name, and to start with an empty one.
  public var replacesOrg: Bool

  public init(
    session: Session, credentials: JSONObject = [:], orgName: String? = nil, isSandbox: Bool? = nil,
    makesDefault: Bool = false, replacesOrg: Bool = false
  ) {
    self.session = session
    self.credentials = credentials
    self.orgName = orgName
    self.isSandbox = isSandbox
    self.makesDefault = makesDefault
    self.replacesOrg = replacesOrg
  }

  /// The name of the user's folder. For an app that signs in by itself it is the client id, so that its stores open before the
  /// first sign-in.
  var user: String {
    if session.flow == "clientCredentials", let id = session.clientId { return id }
    return session.username ?? session.userId
  }
}
