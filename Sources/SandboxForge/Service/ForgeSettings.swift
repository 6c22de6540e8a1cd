import JSON
import SandboxServer

/// Settings of the forge, for behavior in which servers of this kind differ. The control interface
/// can change them at any time.
public struct ForgeSettings: Sendable, Equatable {
  public enum LinkForm: String, Sendable, CaseIterable {
    /// `<http://host/api/orgs/acme/repos?page=2>`
    case absolute
    /// `</api/orgs/acme/repos?page=2>`
    case path
    /// `<?page=2>`
    case query
    /// Uses the path with numeric ids, as GitHub does: `/organizations/1/repos`.
    case ids
    /// Sends no `Link` header.
    case none
  }
  public enum Paging: String, Sendable, CaseIterable { case page, cursor }

  public var links = LinkForm.absolute
  /// Whether `Link` names all known pages or only `next`.
  public var linksAllPages = true
  /// Sends each link in its own header line.
  public var linkLines = false
  /// Writes `rel="next"` rather than `rel=next`.
  public var linkQuotes = true
  /// Adds parameters that confuse a careless parser: `title="a, b; rel=\"next\""`.
  public var linkExtras = false
  /// The spelling of the header's name.
  public var linkName = "Link"
  /// Replaces the scheme, host and port of links; nil for the server's own.
  public var linkOrigin: String?
  /// Appended verbatim to the query of each link: `&note=a b` makes it an invalid URI.
  public var linkSuffix = ""
  /// Query parameters that links omit.
  public var linkDrops: [String] = []
  /// Makes the `next` link of every page point to the same page.
  public var linkLoops = false
  /// Whether links number the pages, or name the item to continue after.
  public var paging = Paging.page
  /// The maximum number of items per page; a larger `per_page` is reduced, not refused.
  public var largestPage = Tuning.largestPageItems
  /// Ignores `per_page`.
  public var ignoresPageSize = false
  /// The number of rows that page numbers can reach; 422 beyond.
  public var listedRows = Tuning.listedRows
  /// The member that holds the items; the list is an object then.
  public var wrapper: String?
  /// Answers an empty list with 204 and no body.
  public var emptyIs204 = false
  /// How often each list is answered with 202 and no body before it is ready.
  public var computing = 0
  /// `Cache-Control` of every response; nil for `private, max-age=60, s-maxage=60` if the caller is
  /// signed in, else `public`.
  public var cacheControl: String?
  public var vary = "Accept, Authorization, Cookie, X-GitHub-OTP, Accept-Encoding"
  /// Whether the `ETag` of a page covers its links. If not, a page that gains a `next` link counts
  /// as unchanged.
  public var tagCoversLinks = true
  /// Omits `ETag` and `Last-Modified`.
  public var hidesValidators = false
  /// Requests allowed in a window of `windowSeconds`.
  public var anonymousRequests = Tuning.anonymousRequests, signedInRequests = Tuning.signedInRequests
  public var windowSeconds = Int(Tuning.windowSeconds)
  /// Points per minute, and writes per minute and per hour; 0 for no limit.
  public var pointsPerMinute = Tuning.pointsPerMinute, writesPerMinute = Tuning.writesPerMinute
  public var writesPerHour = Tuning.writesPerHour
  /// The status when a limit is used up: 403 or 429.
  public var limitStatus = 403
  /// Whether the secondary limit sends `retry-after`.
  public var limitTells = true

  public init() {}

  /// Reads words such as `links=path`, `largestPage=10`, `linkDrops=per_page,sort` or
  /// `wrapper=null`.
  ///
  /// - Throws: ``SandboxError`` `INVALID_ARGUMENT`, which names the setting and its allowed values.
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
  /// - Throws: ``SandboxError`` `INVALID_ARGUMENT`, which names the field and its allowed values.
  mutating func apply(_ given: ControlArguments) throws(SandboxError) {
    for (name, _) in given.values where json[name] == nil {
      throw SandboxError(
        status: 400, code: "INVALID_ARGUMENT",
        message: "'\(name)' is not a setting of the forge; the settings are \(json.keys.joined(separator: ", "))", fields: [name])
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
