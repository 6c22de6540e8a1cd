import JSON
import SandboxServer

/// How the forge answers, where servers of its kind differ. Set through the control interface, also while it runs.
public struct ForgeSettings: Sendable, Equatable {
  public enum LinkForm: String, Sendable, CaseIterable {
    /// `<http://host/api/orgs/acme/repos?page=2>`
    case absolute
    /// `</api/orgs/acme/repos?page=2>`
    case path
    /// `<?page=2>`
    case query
    /// With the path of numeric ids that the real service uses: `/organizations/1/repos`.
    case ids
    /// No `Link` header at all.
    case none
  }
  public enum Paging: String, Sendable, CaseIterable { case page, cursor }

  public var links = LinkForm.absolute
  /// Which pages `Link` names: `next` alone, or those that are known.
  public var linksAllPages = true
  /// Each link in a header line of its own.
  public var linkLines = false
  /// `rel="next"` rather than `rel=next`.
  public var linkQuotes = true
  /// With parameters that a careless reader stumbles over: `title="a, b; rel=\"next\""`.
  public var linkExtras = false
  /// The name of the header as it is spelled.
  public var linkName = "Link"
  /// Scheme, host and port of links in place of the server's own.
  public var linkOrigin: String?
  /// Put behind the query of each link as it is: `&note=a b` is not a valid URI.
  public var linkSuffix = ""
  /// Parameters that links lose.
  public var linkDrops: [String] = []
  /// The `next` of every page is this page again.
  public var linkLoops = false
  /// Whether links count pages or name the item they go on from.
  public var paging = Paging.page
  /// Items of a page at most; more are not refused, but cut.
  public var largestPage = Tuning.largestPageItems
  /// `per_page` is not looked at.
  public var ignoresPageSize = false
  /// Rows that page numbers reach; 422 behind them.
  public var listedRows = Tuning.listedRows
  /// The member that holds the items of a list, which is an object then.
  public var wrapper: String?
  /// An empty list is 204 without a body.
  public var emptyIs204 = false
  /// How often each list is answered with 202 and no body before it is there.
  public var computing = 0
  /// `Cache-Control` of every answer; nil: `private, max-age=60, s-maxage=60` for those who are signed in, `public` else.
  public var cacheControl: String?
  public var vary = "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding"
  /// Whether a page has another `ETag` when its links are others: else a page that has got a next one is unchanged.
  public var tagCoversLinks = true
  /// No `ETag` and no `Last-Modified`.
  public var hidesValidators = false
  /// Requests in a window of `windowSeconds`.
  public var anonymousRequests = Tuning.anonymousRequests, signedInRequests = Tuning.signedInRequests
  public var windowSeconds = Int(Tuning.windowSeconds)
  /// Points in a minute, writes in a minute and in an hour; 0: as many as one likes.
  public var pointsPerMinute = Tuning.pointsPerMinute, writesPerMinute = Tuning.writesPerMinute
  public var writesPerHour = Tuning.writesPerHour
  /// 403 or 429: what refuses when a limit is used up.
  public var limitStatus = 403
  /// Whether the secondary limit says when to come back.
  public var limitTells = true

  public init() {}

  /// Reads words such as `links=path`, `largestPage=10`, `linkDrops=per_page,sort` or `wrapper=null`.
  /// - Throws: ``SandboxError`` `INVALID_ARGUMENT`, naming the setting and what it takes.
  public init(words: [String]) throws(SandboxError) {
    var given: JSONObject = [:]
    for word in words.flatMap({ $0.split(separator: " ") }) {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw SandboxError(status: 400, code: "INVALID_ARGUMENT", message: "'\(word)' must have the form name=value")
      }
      given[parts[0]] = Self.value(parts[0], parts[1])
    }
    try apply(ControlArguments(given))
  }

  private static func value(_ name: String, _ word: String) -> JSONValue {
    switch ForgeSettings().json[name] {
    case .bool?: word == "true" ? true : word == "false" ? false : .string(word)
    case .integer?: Int64(word).map { .integer($0) } ?? .string(word)
    case .array?: .array(word.split(separator: ",").map { .string(String($0)) })
    default: word == "null" ? .null : .string(word)
    }
  }
}

extension ForgeSettings {
  /// - Throws: ``SandboxError`` `INVALID_ARGUMENT`, naming the field and what it takes.
  mutating func apply(_ given: ControlArguments) throws(SandboxError) {
    for (name, _) in given.values where json[name] == nil {
      throw SandboxError(
        status: 400, code: "INVALID_ARGUMENT",
        message: "'\(name)' is not a setting of the forge; there are \(json.keys.joined(separator: ", "))", fields: [name])
    }
    links = try given.choice("links", links)
    paging = try given.choice("paging", paging)
    try given.flag("linksAllPages", &linksAllPages)
    try given.flag("linkLines", &linkLines)
    try given.flag("linkQuotes", &linkQuotes)
    try given.flag("linkExtras", &linkExtras)
    try given.flag("linkLoops", &linkLoops)
    try given.flag("ignoresPageSize", &ignoresPageSize)
    try given.flag("emptyIs204", &emptyIs204)
    try given.flag("tagCoversLinks", &tagCoversLinks)
    try given.flag("hidesValidators", &hidesValidators)
    try given.flag("limitTells", &limitTells)
    linkName = try given.optionalText("linkName") ?? linkName
    linkSuffix = try given.optionalText("linkSuffix") ?? linkSuffix
    vary = try given.optionalText("vary") ?? vary
    if given.has("linkOrigin") { linkOrigin = try given.optionalText("linkOrigin") }
    if given.has("wrapper") { wrapper = try given.optionalText("wrapper") }
    if given.has("cacheControl") { cacheControl = try given.optionalText("cacheControl") }
    linkDrops = try given.texts("linkDrops") ?? linkDrops
    largestPage = try given.optionalInteger("largestPage", 1...1_000) ?? largestPage
    try given.count("listedRows", &listedRows)
    try given.count("computing", &computing)
    try given.count("anonymousRequests", &anonymousRequests)
    try given.count("signedInRequests", &signedInRequests)
    windowSeconds = try given.optionalInteger("windowSeconds", 1...86_400) ?? windowSeconds
    try given.count("pointsPerMinute", &pointsPerMinute)
    try given.count("writesPerMinute", &writesPerMinute)
    try given.count("writesPerHour", &writesPerHour)
    limitStatus = try given.optionalInteger("limitStatus", 403...429) ?? limitStatus
  }

  var json: JSONObject {
    func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }
    func number(_ value: Int) -> JSONValue { .integer(Int64(value)) }
    return [
      "links": .string(links.rawValue), "linksAllPages": .bool(linksAllPages), "linkLines": .bool(linkLines),
      "linkQuotes": .bool(linkQuotes), "linkExtras": .bool(linkExtras), "linkName": .string(linkName),
      "linkOrigin": text(linkOrigin), "linkSuffix": .string(linkSuffix),
      "linkDrops": .array(linkDrops.map { .string($0) }), "linkLoops": .bool(linkLoops),
      "paging": .string(paging.rawValue), "largestPage": number(largestPage), "ignoresPageSize": .bool(ignoresPageSize),
      "listedRows": number(listedRows), "wrapper": text(wrapper), "emptyIs204": .bool(emptyIs204),
      "computing": number(computing), "cacheControl": text(cacheControl), "vary": .string(vary),
      "tagCoversLinks": .bool(tagCoversLinks), "hidesValidators": .bool(hidesValidators),
      "anonymousRequests": number(anonymousRequests),
      "signedInRequests": number(signedInRequests), "windowSeconds": number(windowSeconds),
      "pointsPerMinute": number(pointsPerMinute), "writesPerMinute": number(writesPerMinute),
      "writesPerHour": number(writesPerHour), "limitStatus": number(limitStatus), "limitTells": .bool(limitTells),
    ]
  }
}

extension ControlArguments {
  fileprivate func has(_ name: String) -> Bool { values[name] != nil }

  fileprivate func flag(_ name: String, _ value: inout Bool) throws(SandboxError) {
    value = try optionalFlag(name) ?? value
  }

  fileprivate func count(_ name: String, _ value: inout Int) throws(SandboxError) {
    value = try optionalInteger(name, 0...1_000_000) ?? value
  }

  fileprivate func choice<T: RawRepresentable & CaseIterable>(
    _ name: String, _ value: T
  ) throws(SandboxError) -> T where T.RawValue == String {
    guard let text = try optionalText(name) else { return value }
    guard let found = T(rawValue: text) else {
      throw wrong(name, "one of \(T.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return found
  }

  fileprivate func texts(_ name: String) throws(SandboxError) -> [String]? {
    guard let value = values[name], !value.isNull else { return nil }
    guard let list = value.arrayValue, list.allSatisfy({ $0.stringValue != nil }) else {
      throw wrong(name, "an array of strings")
    }
    return list.compactMap(\.stringValue)
  }
}
