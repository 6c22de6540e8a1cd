import JSON
import RestClient

/// The progress of a walk, as stored in a cursor.
struct WalkState: Sendable, Equatable {
  /// The first request of the whole walk.
  let origin: PageRequest
  /// The first request of the current list. Differs from the origin after `maxItems` has split the
  /// list.
  private(set) var first: PageRequest
  var position = WalkPosition.first
  /// Pages received, over all repetitions of the walk.
  private(set) var pages = 0
  /// Items received in this walk, including tombstones.
  private(set) var items = 0
  private(set) var segmentItems = 0
  private(set) var segmentTotal: Int64?
  /// The watermark of the current list after `maxItems` has split the list.
  private(set) var segmentSince: Int64?
  /// The date of the last item.
  private(set) var lastDate: Int64?
  /// The largest total reported by any page of this walk.
  private(set) var largestTotal: Int64?
  /// The total estimated from the first page, used if no total is known.
  var estimate: Int64?
  /// Hashes of the ids received in this walk. Not stored in the cursor.
  private(set) var ids: Set<UInt64> = []
  var loops = LoopGuard()
  /// Whether a cursor has already expired once.
  var hasRestarted = false
  /// Repetitions of an incomplete walk.
  var walks = 0
  /// Next URLs differ by a number.
  var shiftsSeen = false
  /// Pages overlap, but one did not repeat an item of the page before.
  var lacksOverlap = false
  var lastPageHash: UInt64?
  /// The ids of some pages are unknown, because they preceded a cursor or were answered with a 304.
  private(set) var lacksIds = false

  init(first: PageRequest) {
    origin = first
    self.first = first
  }

  /// Counts a page.
  ///
  /// - Returns: The number of its ids that are new; all of them if ids are not counted.
  mutating func note(_ page: CollectionPage, countingIds: Bool) -> Int {
    pages += 1
    items += page.itemCount
    segmentItems += page.itemCount
    // An empty page past the end counts as the server likes.
    if let total = page.facts.total, page.itemCount > 0 || position == .first {
      segmentTotal = max(segmentTotal ?? 0, total)
      largestTotal = max(largestTotal ?? 0, total)
    }
    lastDate = page.facts.lastDate?.position ?? lastDate
    guard countingIds else { return page.ids.count }
    return page.ids.reduce(0) { $0 + (ids.insert(StableHash.of($1)).inserted ? 1 : 0) }
  }

  /// Counts a page that is unchanged since the last run.
  mutating func noteUnchanged(items count: Int) {
    pages += 1
    items += count
    segmentItems += count
    lacksIds = true
  }

  /// Returns to the first page.
  mutating func restart() {
    first = origin
    position = .first
    (items, segmentItems) = (0, 0)
    (segmentTotal, segmentSince, lastDate, largestTotal, lastPageHash) = (nil, nil, nil, nil, nil)
    ids = []
    loops = LoopGuard()
    (lacksOverlap, lacksIds) = (false, false)
  }

  mutating func beginSegment(_ request: PageRequest, since: Int64) {
    first = request
    position = .first
    segmentItems = 0
    (segmentTotal, lastPageHash) = (nil, nil)
    segmentSince = since
  }
}

// MARK: JSON

extension WalkState {
  /// Milliseconds that an unused cursor remains valid: ten minutes, because the list changes in the
  /// meantime.
  static let shelfLifeMs: Int64 = 600_000

  /// Encodes the state.
  ///
  /// - Parameters:
  ///   - target: Its secret parameters are masked in all URLs, and its fingerprint invalidates the
  ///     cursor when the target changes.
  ///   - nowMs: The wall clock in ms since 1970 UTC.
  func json(_ target: RestTarget, nowMs: Int64) -> JSONObject {
    var json: JSONObject = [
      "target": .integer(target.fingerprint), "savedAt": .integer(nowMs), "origin": .object(origin.json(target)),
      "at": .object(WalkState.withoutSecrets(position, target).json), "pages": .integer(Int64(pages)),
      "items": .integer(Int64(items)),
      "segmentItems": .integer(Int64(segmentItems)), "loops": .object(loops.json), "hasRestarted": .bool(hasRestarted),
      "walks": .integer(Int64(walks)), "shiftsSeen": .bool(shiftsSeen), "lacksOverlap": .bool(lacksOverlap),
    ]
    if first != origin { json["first"] = .object(first.json(target)) }
    for (key, value) in [
      ("segmentTotal", segmentTotal), ("segmentSince", segmentSince), ("lastDate", lastDate), ("largestTotal", largestTotal),
      ("estimate", estimate), ("lastPageHash", lastPageHash.map { Int64(bitPattern: $0) }),
    ] {
      if let value { json[key] = .integer(value) }
    }
    return json
  }

  private static func withoutSecrets(_ position: WalkPosition, _ target: RestTarget) -> WalkPosition {
    guard case .url(let url, let isForeign) = position else { return position }
    return .url(SecretParameters(target).removed(from: url), isForeign: isForeign)
  }

  /// Decodes a cursor. Fails if the target has changed since, if the cursor is too old, or if the
  /// JSON is not a cursor.
  ///
  /// - Parameter ofAnyAge: Ignores the cursor's age, for pages on demand.
  init?(_ json: JSONObject, _ target: RestTarget, nowMs: Int64, ofAnyAge: Bool = false) {
    guard json["target"]?.integerValue == target.fingerprint, let savedAt = json["savedAt"]?.integerValue,
      ofAnyAge || (0...WalkState.shelfLifeMs).contains(nowMs.subtractingSafely(savedAt)),
      let origin = json["origin"]?.objectValue.flatMap({ PageRequest($0, target) }), let at = json["at"]?.objectValue
    else { return nil }
    self.origin = origin
    first = json["first"]?.objectValue.flatMap { PageRequest($0, target) } ?? origin
    position = WalkPosition(at)
    if case .url(let url, let isForeign) = position {
      // Secrets of the connection's origin must not go to another one.
      position = .url(isForeign ? url : SecretParameters(target).added(to: url), isForeign: isForeign)
    }
    func count(_ key: String) -> Int { max(0, Int(clamping: json[key]?.boundedInteger ?? 0)) }
    (pages, items, segmentItems, walks) = (count("pages"), count("items"), count("segmentItems"), count("walks"))
    segmentTotal = json["segmentTotal"]?.boundedInteger
    segmentSince = json["segmentSince"]?.boundedInteger
    lastDate = json["lastDate"]?.boundedInteger
    largestTotal = json["largestTotal"]?.boundedInteger
    estimate = json["estimate"]?.boundedInteger
    lastPageHash = json["lastPageHash"]?.integerValue.map { UInt64(bitPattern: $0) }
    loops = LoopGuard(json["loops"]?.objectValue) ?? LoopGuard()
    hasRestarted = json["hasRestarted"]?.boolValue ?? false
    shiftsSeen = json["shiftsSeen"]?.boolValue ?? false
    lacksOverlap = json["lacksOverlap"]?.boolValue ?? false
    lacksIds = pages > 0
  }
}

extension PageRequest {
  fileprivate func json(_ target: RestTarget) -> JSONObject {
    var json: JSONObject = ["method": .string(method.rawValue), "url": .string(SecretParameters(target).removed(from: url))]
    if let body { json["body"] = .object(body) }
    if !headers.isEmpty { json["headers"] = .object(JSONObject(headers.map { ($0.name, .string($0.value)) })) }
    return json
  }

  fileprivate init?(_ json: JSONObject, _ target: RestTarget) {
    guard let method = json["method"]?.stringValue.flatMap(RestTarget.Method.init(rawValue:)), let url = json["url"]?.stringValue
    else {
      return nil
    }
    self.init(method: method, url: SecretParameters(target).added(to: url), body: json["body"]?.objectValue)
    headers = (json["headers"]?.objectValue ?? [:]).map { TextPair(name: $0.key, value: $0.value.stringValue ?? "") }
  }
}

/// Masks the secrets in a target's parameters when URLs are stored.
struct SecretParameters {
  static let names = ["access_token", "token", "api_key", "key", "client_secret", "password", "sig"]
  /// Replaces a secret; braces do not occur in a URL.
  private static let mark = "{secret}"

  private let pairs: [TextPair]

  init(_ target: RestTarget) {
    pairs = (target.params + target.incremental.params + target.incremental.firstParams).filter {
      SecretParameters.names.contains($0.name.lowercased())
    }
  }

  /// Masks only pairs with the target's own value, because `token` is also a common name of page
  /// cursors.
  func removed(from url: String) -> String {
    guard !pairs.isEmpty else { return url }
    return URLQuery.changing(url) { raw, name, value in
      pairs.contains(TextPair(name: name, value: value)) ? SecretParameters.pair(raw, SecretParameters.mark) : raw
    }
  }

  func added(to url: String) -> String {
    guard !pairs.isEmpty else { return url }
    return URLQuery.changing(url) { raw, name, value in
      guard value == SecretParameters.mark, let pair = pairs.first(where: { $0.name == name }) else { return raw }
      return SecretParameters.pair(raw, PercentEncoding.encode(pair.value))
    }
  }

  /// Returns the pair with its name unchanged and another value.
  private static func pair(_ raw: Substring, _ value: String) -> Substring { Substring("\(raw.prefix { $0 != "=" })=\(value)") }
}
