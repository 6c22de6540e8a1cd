import JSON
import RecordScan
import Salesforce

@testable import MobileSync
@testable import Parse
@testable import RestClient
@testable import RestCollections
@testable import SmartStore

/// The other parsers of what servers and scripts send: headers, pages, dates, states, values. Each text is read or refused.
enum AnswerTarget {
  static let target = ParserTarget(
    "answers", usualRounds: 3_000,
    dictionary: [
      "max-age=", "no-cache", "stale-if-error", "GMT", "Mon, 23 Nov 2026 08:46:02 GMT", "2026-11-23T08:46:02Z", "+01:30",
      "-00:00", ";w=60",
      "yyyy-MM-dd'T'HH:mm:ss.SSSX", "CET-1CEST,M3.5.0,M10.5.0/3", "<-03>3", "J60", "TZif2", "\"__type\":", "\"Date\"",
      "\"Pointer\"", "\"iso\":",
      "\"__op\":", "\"paging\":", "\"style\":\"cursor\"", "\"incremental\":", "\"map\":", "{since}", "\"where\":", "\"ghosts\":",
      "\"queryType\":",
      "\"smartSql\":", "\"errorCode\":", "<html>", "24:00:00", "60", "0001-01-01", "-9999",
    ],
    headers + lists + dates + states + values)

  // MARK: Headers

  private static let headers: [FuzzedParser] = [
    .text("Cache-Control") { text in
      let control = CacheControl([text])
      return FuzzSignal.shape("\(control)")
    },
    .text("stored headers") { text in
      guard let read = CachedHeaders.read(text) else { throw FuzzedParser.Refused() }
      let again = CachedHeaders.read(CachedHeaders.text(read.map { .init(name: $0.name, value: $0.value) }))
      let isSame =
        again?.elementsEqual(read) { $0.name.hasSameBytes(as: $1.name) && $0.value.hasSameBytes(as: $1.value) } ?? false
      try FuzzFailure.unless(isSame, "stored headers that read differently")
      return "\(FuzzSignal.magnitude(read.count))"
    },
    .text("Retry-After") { text in
      guard let seconds = RetryAfter.seconds(text, now: 1e9) else { throw FuzzedParser.Refused() }
      try FuzzFailure.unless(seconds >= 0 && seconds.isFinite, "a wait of \(seconds) seconds")
      return "\(FuzzSignal.magnitude(Int(min(seconds, 1e15))))"
    },
    .text("quota") { text in
      var signal = ""
      for form: ConnectionSettings.QuotaHeaders.ResetForm? in [nil, .epoch, .seconds, .iso8601] {
        var settings = ConnectionSettings.QuotaHeaders()
        settings.resetAs = form
        let quota = Quota(["limit", "remaining", "reset"].map { ("X-RateLimit-" + $0, text) }, settings, now: 1e9)
        signal += quota == nil ? "-" : quota?.blockedUntil(minRemaining: nil, now: 1e9) == nil ? "0" : "+"
      }
      guard signal.contains("0") || signal.contains("+") else { throw FuzzedParser.Refused(signal) }
      return signal
    },
  ]

  // MARK: Lists

  private static func restTarget(_ text: String) -> RestTarget {
    // Our own text.
    try! RestTarget(JSONValue(parsing: text).objectValue ?? [:])
  }

  private static let byURL = restTarget(
    #"""
    {"type":"rest","connection":"c","url":"/orgs/{org}/repos","vars":{"org":"acme"},"params":{"per_page":"10"},"itemsPath":"items",
     "modificationDateField":"updated_at","paging":{"style":"bodyUrl","nextPath":"meta.next"},"totalPath":"meta.total",
     "incremental":{"mode":"param","params":{"since":"{since}"},"overlapMs":1000,"order":"ascending","timeZone":"Europe/Berlin"},
     "map":{"login":"owner.login"},"omit":["name"],"where":[{"path":"owner","exists":true}],"deletedPath":"gone",
     "ghosts":{"mode":"fullList","confirm":"walks"},"headers":{"X-A":"b"}}
    """#)
  private static let byCursor = restTarget(
    #"""
    {"type":"rest","connection":"c","url":"/search","method":"POST","body":{"page":{"size":2}},"itemsPath":"items",
     "paging":{"style":"cursor","in":"body","cursorParam":"page.token","cursorPath":"meta.token"},"incremental":{"mode":"hash"}}
    """#)

  private static let lists: [FuzzedParser] = [
    .object("rest target") { json in
      let target = try RestTarget(json)
      return "\(target.staysOnOrigin) \(target.headers.isEmpty)"
    },
    FuzzedParser("page of a list") { bytes in
      var signal = ""
      for target in [byURL, byCursor] {
        let read = Result { try page(bytes, of: target) }
        signal += (try? read.get()) ?? "-"
        if case .failure(let error) = read, error is FuzzFailure || target == byCursor && signal == "--" { throw error }
      }
      return signal
    },
    FuzzedParser("page of records") { bytes in
      var scanner = RecordScanner(plan: ScanPlan(paths: ["Id", "Name", "Account.Name", "a.b.c"], ownedKeys: ["__local__"]))
      let body = ResponseBody(bytes)
      let isPage = try body.withUnsafeBytes { (memory) throws(ScanError) in
        try scanner.scanPage(memory, recordsKey: "records", envelopeKeys: ["nextRecordsUrl", "totalSize", "done"])
      }
      for record in scanner.records.indices { for field in 0..<4 { _ = scanner.value(record: record, field: field) } }
      guard isPage else { throw FuzzedParser.Refused() }
      return "\(FuzzSignal.magnitude(scanner.records.count)) \(scanner.envelope.map(\.kind))"
    },
  ]

  private static func page(_ bytes: [UInt8], of target: RestTarget) throws -> String {
    try ResponseBody(bytes).withUnsafeBytes { memory in
      let answer = PageAnswer(url: "https://h/x", headers: [("Content-Type", "application/json")])
      let page = try PageReader(target).read(memory, of: answer, page: 1)
      if case .slice(let range) = page.records(in: memory) {
        try FuzzFailure.unless(range.upperBound <= memory.count, "records beyond the end of the page")
      }
      var tracker = WatermarkTracker(target, start: 5, isIncremental: true)
      tracker.note(page)
      _ = (tracker.afterPage(shifts: false), tracker.atEnd(shifts: true, isIncomplete: false, elapsedMs: 5))
      return "\(tracker.hasReachedWatermark(page))"
    }
  }

  // MARK: Dates

  private static let dates: [FuzzedParser] = [
    .text("date") { text in
      var signal = ""
      for name in ["iso8601", "rfc1123", "epoch", "epochMs", "integer", "yyyy-MM-dd'T'HH:mm:ss.SSSX"] {
        let format = try DateFormat(name)
        for zone in [TimeZoneRules.utc, berlin] {
          guard let date = format.date(text.utf8, zone: zone) else { continue }
          signal += name
          try compare(format, format.text(date.position, zone: zone), with: date.position, zone)
        }
      }
      let plain = (TimeStamp.milliseconds(text), TimeStamp.milliseconds(httpDate: text), ISODate.secondsSince1970(text))
      signal += " \(plain.0 != nil) \(plain.1 != nil) \(plain.2 != nil) \(HTTPDate.secondsSince1970(text) != nil)"
      guard signal.contains("true") || !signal.hasPrefix(" ") else { throw FuzzedParser.Refused() }
      return signal
    },
    .text("date pattern") { text in
      let format = try DateFormat(text)
      let written = format.text(1_764_000_000_000, zone: berlin)
      let date = format.date(written.utf8, zone: berlin)
      _ = format.text(.max, zone: berlin) + format.text(.min, zone: berlin)
      return "\(date != nil)"
    },
    .text("rule of a time zone") { text in
      guard let rule = YearlyRule(text) else { throw FuzzedParser.Refused() }
      let offsets = [0, 1_764_000_000, -1 << 40, 1 << 40].map { rule.offset(at: $0) }
      try FuzzFailure.unless(offsets.allSatisfy { abs($0) < 26 * 3_600 }, "offsets of \(offsets) seconds")
      return "\(Set(offsets).count)"
    },
    FuzzedParser("time zone file") { bytes in
      guard let zone = TimeZoneRules("Some/Zone", zoneFile: { _ in bytes }) else { throw FuzzedParser.Refused() }
      for seconds: Int64 in [0, 1_764_000_000, -1 << 40, 1 << 40] {
        _ = (zone.offset(at: seconds), zone.seconds(ofLocal: seconds))
      }
      return "\(zone.offset(at: 0) == zone.offset(at: 1_764_000_000))"
    },
  ]

  /// A date that is written reads as the same date, where the format can express it.
  private static func compare(_ format: DateFormat, _ text: String, with position: Int64, _ zone: TimeZoneRules)
    throws(FuzzFailure)
  {
    // The years that can be written.
    guard (-62_135_596_800_000...253_402_214_400_000).contains(position) else { return }
    guard let again = format.date(text.utf8, zone: zone)?.position else {
      throw FuzzFailure(message: "a date that is written as '\(text)', and then refused")
    }
    // The hour that a zone repeats in autumn has two meanings.
    try FuzzFailure.unless(abs(again - position) <= 3_600_000, "a date written as '\(text)', which reads \(again - position) off")
  }

  private static let berlin = TimeZoneRules("CET-1CEST") { _ in Array(zoneFile) } ?? .utc

  /// A TZif file, version 2 of RFC 9636: UTC+1 from 1970, UTC+2 from a day later, then by rule.
  static let zoneFile: [UInt8] = {
    func header(times: UInt8, types: UInt8) -> [UInt8] {
      Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15)
        + [0, 0, 0, times, types, 4].flatMap { [0, 0, 0, $0] }
    }
    let types: [UInt8] = [0, 0, 0x0e, 0x10, 0, 0, 0, 0, 0x1c, 0x20, 1, 0] + Array("CET\0".utf8)
    let times: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0] + [0, 0, 0, 0, 0, 1, 0x51, 0x80] + [0, 1]
    let old: [UInt8] = [0, 0, 0, 0] + [0, 1, 0x51, 0x80] + [0, 1]
    return header(times: 2, types: 2) + old + types + header(times: 2, types: 2) + times + types
      + Array("\nCET-1CEST,M3.5.0,M10.5.0/3\n".utf8)
  }()

  // MARK: States

  private static let states: [FuzzedParser] = [
    .object("sync state") { json in
      let state = try SyncState(json), again = try SyncState(state.json)
      try FuzzFailure.unless(
        again.json.text == state.json.text, "a sync state that reads differently: \(state.json.text.prefix(500))")
      return "\(state.json.count)"
    },
    .object("memory of a list") { json in
      _ = CollectionMemory(json, byURL)
      let cursor = CollectionCursor(json["cursor"]?.objectValue ?? [:], byURL, nowMs: .max, ofAnyAge: true)
      _ = PageValidator(.object(json), byURL)
      return "\(cursor != nil)"
    },
    .object("session") { json in
      guard Session(json: .object(json)) != nil else { throw FuzzedParser.Refused() }
      return ""
    },
    .object("query spec") { json in
      let spec = try QuerySpec(json)
      return "\(spec.kind) \(spec.order) \(spec.selectPaths != nil)"
    },
  ]

  // MARK: Values

  private static let values: [FuzzedParser] = [
    FuzzedParser("refusal") { bytes in
      let response = RestResponse(status: 400, headers: [("Content-Type", "application/json")], body: ResponseBody(bytes))
      let error = RestError(refusal: response, words: .salesforce)
      try FuzzFailure.unless(!error.message.isEmpty, "a refusal without a message")
      _ = ServerRefusal(status: 400, body: bytes).lastError(at: 5)
      return "\(error.code) \(error.serverCode != nil)"
    },
    FuzzedParser("value of a Parse object") { bytes in
      let value = try JSONValue(parsing: bytes)
      let typed = try TypedValue.read(value)
      _ = try OutgoingValue(value)
      return "\(typed != nil)"
    },
    .object("answer to a write") { json in
      "\(WriteAnswer(json).merged(into: ["a": ["b": 2]], sent: ["a": ["b": 3]]).count)"
    },
  ]
}
