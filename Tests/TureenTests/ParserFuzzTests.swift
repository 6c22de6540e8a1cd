import JSON
import RecordScan
import Support
import TestSupport
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient
@testable import RestCollections
@testable import Salesforce
@testable import SmartStore
@testable import Tureen

/// Damaged texts for everything that reads what a server, a file or a script has written: each is read or refused. What traps ends
/// the process, and the test with it.
///
/// How long they go on: ``FuzzSettings``; the seconds are shared by the parsers. `TUREEN_FUZZ_TEXT` names a file that holds the
/// text in work, to see which one ended the process.
@Suite(.serialized) struct ParserFuzzTests {
  private static let usual = 300
  private static let trace = FuzzSettings.text("TUREEN_FUZZ_TEXT")

  @Test(.timeLimit(.minutes(120)), arguments: FuzzedParser.all.map(\.name))
  func parser_damagedText_isReadOrRefused(name: String) throws {
    let parser = try #require(FuzzedParser.all.first { $0.name == name })
    let texts = parser.texts
    // A text that nothing is wrong with is read: else nothing but the first check would be tried.
    for text in texts {
      #expect(throws: Never.self, "\(name): \(String(decoding: text, as: UTF8.self))") { try parser.read(text) }
    }
    var damaged = DamagedText(random: SeededGenerator(state: FuzzSettings.seed)), refused = 0, round = 0
    let start = ContinuousClock.now
    while FuzzSettings.goesOn(round, usual: Self.usual, since: start, share: FuzzedParser.all.count) {
      let text = damaged.next(of: texts)
      if let file = Self.trace { try FileSystem.write(Array(name.utf8) + [0x0a] + text, to: file) }
      do { try parser.read(text) } catch { refused += 1 }
      round += 1
    }
    print("fuzzed \(name): \(round) texts, \(refused) refused")
    #expect(round > 0)
  }
}

/// One reader, with texts that it takes.
struct FuzzedParser: Sendable {
  let name: String
  let texts: [[UInt8]]
  let read: @Sendable ([UInt8]) throws -> Void

  private init(name: String, bytes: [[UInt8]], read: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.name = name
    texts = bytes
    self.read = read
  }

  private init(name: String, texts: [String], read: @escaping @Sendable ([UInt8]) throws -> Void) {
    self.init(name: name, bytes: texts.map { Array($0.utf8) }, read: read)
  }

  /// Of a reader that takes text.
  private static func text(
    _ name: String, _ texts: [String], _ read: @escaping @Sendable (String) throws -> Void
  ) -> FuzzedParser {
    FuzzedParser(name: name, texts: texts) { try read(String(decoding: $0, as: UTF8.self)) }
  }

  /// Of a reader that takes an object of JSON; what is none is refused before it.
  private static func object(
    _ name: String, _ texts: [String], _ read: @escaping @Sendable (JSONObject) throws -> Void
  ) -> FuzzedParser {
    FuzzedParser(name: name, texts: texts) { bytes in
      guard let object = try JSONValue(parsing: bytes).objectValue else { throw Refused() }
      try read(object)
    }
  }

  private static func file(
    _ name: String, _ texts: [String], _ read: @escaping @Sendable (JSONFile) throws -> Void
  ) -> FuzzedParser {
    FuzzedParser(name: name, texts: texts) { try read(JSONFile(name: "file.json", text: $0)) }
  }

  struct Refused: Error {}

  static let all: [FuzzedParser] = values + files + headers + lists + dates + states + answers

  private static let values: [FuzzedParser] = [
    FuzzedParser(name: "JSON", texts: [page, #"[1,-0.5e-3,"\ud834\udd1e",null,true,[[[{}]]]]"#]) { bytes in
      let value = try JSONValue(parsing: bytes)
      #expect((try? JSONValue(parsing: value.serialized())) == value, "\(String(decoding: bytes, as: UTF8.self))")
    },
    FuzzedParser(name: "page of records", texts: [page]) { bytes in
      var scanner = RecordScanner(plan: ScanPlan(paths: ["Id", "Name", "Account.Name", "a.b.c"], ownedKeys: ["__local__"]))
      let body = ResponseBody(bytes)
      let isPage = try body.withUnsafeBytes { (memory) throws(ScanError) in
        try scanner.scanPage(memory, recordsKey: "records", envelopeKeys: ["nextRecordsUrl", "totalSize", "done"])
      }
      for record in scanner.records.indices { for field in 0..<4 { _ = scanner.value(record: record, field: field) } }
      if !isPage { throw Refused() }
    },
    text("SOQL", ["SELECT Id, Account.Name FROM Contact WHERE Name LIKE 'a\\'%' AND (Age__c > 5) ORDER BY Id LIMIT 25 OFFSET 3"])
    {
      let query = SOQLQuery($0)
      _ = query.addingSelect("A").replacingOrderBy("B").addingWhere("C = 1").replacingSelect("D").text
      _ = (query.isLimited, query.isSelecting("Id"), query.isOrdering(by: "Id"))
    },
    object(
      "query spec",
      [
        #"{"queryType":"range","indexPath":"a.b","beginKey":1,"endKey":"z","order":"descending","pageSize":10,"orderPath":"a"}"#,
        #"{"queryType":"smart","smartSql":"SELECT {s:_soup} FROM {s} WHERE {s:a} = ?","pageSize":1,"args":[1]}"#,
      ]
    ) { _ = try QuerySpec($0) },
  ]

  private static let files: [FuzzedParser] = [
    file(
      "userstore.json", [#"{"soups":[{"soupName":"s","indexes":[{"path":"Id","type":"string"},{"path":"n","type":"integer"}]}]}"#]
    ) {
      _ = try StoreConfiguration($0)
    },
    file(
      "connections.json",
      [
        #"""
        {"github": {"kind":"rest","baseURL":"https://api.github.com","headers":{"X-Version":"1"},"maxParallel":1,"pauseMs":1000,
         "auth":{"type":"bearer","token":{"env":"TOKEN"},"optional":true},"allowOrigins":["https://a.example"]},
         "notes": {"baseURL":"https://b.example/v1","timeoutS":30,"log":{"level":"info","file":"n.log"},"cache":{"diskMB":2},
         "auth":{"type":"basic","username":"s","password":{"command":["pass","show"]}},"quota":{"limit":"l","resetAs":"epoch"}}}
        """#
      ]
    ) { _ = try ConnectionSettings.read($0, folder: "/tmp") },
    file(
      "usersyncs.json",
      [
        #"{"syncs":[{"syncName":"a","syncType":"syncDown","soupName":"s","target":{"type":"soql","query":"SELECT Id FROM C"},"options":{}}]}"#
      ]
    ) { file in
      for entry in file.value["syncs"]?.arrayValue ?? [] { _ = try SyncDefinition(entry, targets: .host(nil)) }
    },
    FuzzedParser(name: "certificates", texts: [certificate]) { bytes in
      if TrustedCertificates(pem: bytes) == nil { throw Refused() }
    },
  ]

  private static let headers: [FuzzedParser] = [
    text(
      "Link",
      [
        ##"<https://h/a?page=2>; rel="next", </b?x=1,2;3>; rel="last prev"; title*=UTF-8''%e2%82%ac, <c>;rel=next;anchor="#x""##
      ]
    ) { text in
      _ = LinkHeader([text]).target(of: "next", responseURL: "https://h/list?page=1")
      _ = URLReference.resolve(URLReference.repaired(text), against: "https://h/a/b?c#d")
      let url = URLQuery.setting("page", to: "2", in: URLQuery.adding([("a", text)], to: text))
      _ = URLQuery.value(of: "page", in: url)
    },
    text(
      "Cache-Control", [#"private, max-age=60, stale-if-error="600", no-cache="a,b", max-stale, s-maxage=99999999999999999999"#]
    ) {
      let control = CacheControl([$0])
      _ = control
    },
    text("stored headers", [CachedHeaders.text([.init(name: "ETag", value: "\"a\""), .init(name: "Vary", value: "A, B")])]) {
      if CachedHeaders.read($0) == nil { throw Refused() }
    },
    text("Retry-After", ["120", "2.5", "Mon, 23 Nov 2026 08:46:02 GMT"]) {
      if RetryAfter.seconds($0, now: 1e9) == nil { throw Refused() }
    },
    text("quota", ["100", "100, 100;w=60", "59.0", "1764000000", "2026-11-23T08:46:02.5+01:00", "1764000000000"]) { text in
      for form: ConnectionSettings.QuotaHeaders.ResetForm? in [nil, .epoch, .seconds, .iso8601] {
        var settings = ConnectionSettings.QuotaHeaders()
        settings.resetAs = form
        let quota = Quota(["limit", "remaining", "reset"].map { ("X-RateLimit-" + $0, text) }, settings, now: 1e9)
        _ = quota?.blockedUntil(minRemaining: nil, now: 1e9)
      }
    },
    text("URL", ["https://h.example:8443/a/b%20c?d=e&f", "http://[::1]:80/"]) {
      if WebAddress($0) == nil { throw Refused() }
      _ = try WebAddress.url(path: $0, query: [("a", $0)], base: "https://h.example/base")
      _ = PercentEncoding.decode(PercentEncoding.encode($0))
    },
  ]

  private static let lists: [FuzzedParser] = [
    object("rest target", [target, search]) { _ = try RestTarget($0) },
    FuzzedParser(name: "page of a list", texts: [list]) { bytes in
      for text in [target, search] {
        let target = try RestTarget(JSONValue(parsing: text).objectValue ?? [:])
        let page = try ResponseBody(bytes).withUnsafeBytes { memory in
          let answer = PageAnswer(url: "https://h/x", headers: [("Content-Type", "application/json")])
          let page = try PageReader(target).read(memory, of: answer, page: 1)
          if case .slice(let range) = page.records(in: memory) { #expect(range.upperBound <= memory.count) }
          return page
        }
        var tracker = WatermarkTracker(target, start: 5, isIncremental: true)
        tracker.note(page)
        _ = (tracker.afterPage(shifts: false), tracker.atEnd(shifts: true, isShort: false, elapsedMs: 5))
        _ = tracker.hasReachedWatermark(page)
      }
    },
    text("URI template", ["/a/{b}/{+c}{?e,f}{&g}", "x{b}y"]) { text in
      _ = try URITemplate(text, for: .url).expanded { $0.count > 3 ? nil : "é /?" + $0 }
    },
    text("path", ["a.b.0.c", "links[rel=next].href", "/a~1b/0/~0c", "$", "header:X-Next"]) { text in
      let path = try ValuePath(text, taking: [.header])
      _ = "\(path)"
    },
  ]

  private static let dates: [FuzzedParser] = [
    text("date", ["2026-11-23T08:46:02.123456789+01:30", "Mon, 23 Nov 2026 08:46:02 GMT", "1764000000.5", "-1"]) { text in
      for name in ["iso8601", "rfc1123", "epoch", "epochMs", "integer", "yyyy-MM-dd'T'HH:mm:ss.SSSX"] {
        let format = try DateFormat(name)
        for zone in [TimeZoneRules.utc, berlin] {
          guard let date = format.date(text.utf8, zone: zone) else { continue }
          _ = format.text(date.position, zone: zone)
        }
      }
      _ = (TimeStamp.milliseconds(text), TimeStamp.milliseconds(httpDate: text), ISODate.secondsSince1970(text))
      _ = HTTPDate.secondsSince1970(text)
    },
    text("date pattern", ["yyyy-MM-dd'T'HH:mm:ss.SSSX", "dd/MM/yyyy HH:mm", "yyyyMMdd''"]) { text in
      let format = try DateFormat(text)
      let written = format.text(1_764_000_000_000, zone: berlin)
      _ = format.date(written.utf8, zone: berlin)
      _ = format.text(.max, zone: berlin) + format.text(.min, zone: berlin)
    },
    text("rule of a time zone", ["CET-1CEST,M3.5.0,M10.5.0/3", "<-03>3", "EST5EDT,J60/2:30,300"]) {
      guard let rule = YearlyRule($0) else { throw Refused() }
      for seconds: Int64 in [0, 1_764_000_000, -1 << 40, 1 << 40] { _ = rule.offset(at: seconds) }
    },
    FuzzedParser(name: "time zone file", bytes: [zoneFile]) { bytes in
      guard let zone = TimeZoneRules("Some/Zone", zoneFile: { _ in bytes }) else { throw Refused() }
      for seconds: Int64 in [0, 1_764_000_000, -1 << 40, 1 << 40] {
        _ = (zone.offset(at: seconds), zone.seconds(ofLocal: seconds))
      }
    },
  ]

  private static let berlin = TimeZoneRules("CET-1CEST") { _ in zoneFile } ?? .utc

  /// Version 2 of RFC 9636: an hour east of Greenwich from 1970 on, two from a day later, then by rule.
  private static let zoneFile: [UInt8] = {
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

  private static let states: [FuzzedParser] = [
    object(
      "sync state",
      [
        #"""
        {"_soupEntryId":1,"type":"syncDown","name":"n","target":{"type":"soql","query":"SELECT Id FROM C"},"options":{"mergeMode":
         "OVERWRITE"},"soupName":"s","status":"RUNNING","progress":5,"totalSize":-1,"maxTimeStamp":1764000000000,"startTime":1,
         "endTime":0,"error":"","warnings":["w"],"targetMemory":{"a":1},"resumeAt":5,"pages":3}
        """#
      ]
    ) { _ = try SyncState($0).json },
    object("memory of a list", [#"{"key":"k","salt":"s","watermark":1764000000000,"cursor":{"walk":{"url":"https://h/x"}}}"#]) {
      json in
      let target = try RestTarget(JSONValue(parsing: target).objectValue ?? [:])
      _ = CollectionMemory(json, target)
      _ = CollectionCursor(json["cursor"]?.objectValue ?? [:], target, nowMs: .max, ofAnyAge: true)
      _ = PageValidator(.object(json), target)
    },
    object("session", [#"{"accessToken":"t","instanceUrl":"https://h","id":"https://h/id/00D/005","loginUrl":"https://l"}"#]) {
      _ = Session(json: .object($0))
    },
    object(
      "kept token",
      [#"{"version":1,"key":"k","salt":"s","accessToken":"t","renewAt":1e9,"refused":{"reason":"r","message":"m"}}"#]
    ) {
      if KeptToken(json: .object($0)) == nil { throw Refused() }
    },
  ]

  private static let answers: [FuzzedParser] = [
    FuzzedParser(name: "refusal", texts: [#"[{"message":"m","errorCode":"E","fields":["A"]}]"#, #"{"error":"e"}"#, "<html>"]) {
      bytes in
      let response = RestResponse(status: 400, headers: [("Content-Type", "application/json")], body: ResponseBody(bytes))
      _ = RestError(refusal: response, words: .salesforce).description
      _ = ServerRefusal(status: 400, body: bytes).kept(at: 5)
    },
    FuzzedParser(
      name: "value of a Parse object",
      texts: [
        #"{"__type":"Date","iso":"2026-11-23T08:46:02.000Z"}"#, #"{"__type":"Pointer","className":"A","objectId":"x"}"#,
        #"{"__type":"GeoPoint","latitude":1.5,"longitude":-2}"#, #"{"__type":"Polygon","coordinates":[[0,0],[1,1],[1,0]]}"#,
        #"{"__type":"Bytes","base64":"AAEC"}"#, #"{"__type":"File","name":"f","url":"https://h/f"}"#,
      ]
    ) { bytes in
      let value = try JSONValue(parsing: bytes)
      _ = try TypedValue.read(value)
      _ = try OutgoingValue(value)
    },
    FuzzedParser(name: "answer to a write", texts: [#"{"objectId":"x","a.b":1,"c":{"__op":"Delete"},"updatedAt":"2026"}"#]) {
      bytes in
      guard let answer = try JSONValue(parsing: bytes).objectValue else { throw Refused() }
      _ = WriteAnswer(answer).merged(into: ["a": ["b": 2]], sent: ["a": ["b": 3]])
    },
  ]

  // MARK: Texts

  private static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBdjCCARugAwIBAgIUUe/LFOXHIOsM6LJkylFOxPNgEoEwCgYIKoZIzj0EAwIw
    DzENMAsGA1UEAwwERnV6ejAgFw0yNjExMjQwMDAwNTVaGA8yMTI2MTAzMTAwMDA1
    NVowDzENMAsGA1UEAwwERnV6ejBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCMM
    sRibg8+5BnTTkeL3dkB0X3mZu01khoWqvHMWvIgBRIPHxdY89Lyv1/YA49nVEiQb
    /m8sjyGZfBboE1az6V6jUzBRMB0GA1UdDgQWBBS/Yq0lm6wrR402H8XqV4S1/m3V
    2zAfBgNVHSMEGDAWgBS/Yq0lm6wrR402H8XqV4S1/m3V2zAPBgNVHRMBAf8EBTAD
    AQH/MAoGCCqGSM49BAMCA0kAMEYCIQDglCAPWWi5eI+HDYr6F49ZNyCkKj2sz6nx
    OuP1qLvgtAIhAJ+W9GSp/YW2DdF/DyJC5+/KQiONgsy3WX6kmbfk4AiL
    -----END CERTIFICATE-----
    """

  private static let page = #"""
    {"totalSize":2,"done":false,"nextRecordsUrl":"/services/data/v66.0/query/01g-2000","records":[{"attributes":{"type":"Contact"},
     "Id":"003A","Name":"Ann \"X\" \u00e9\n","Account":{"Name":"Acme"},"a":{"b":{"c":-2.5e3}}},{"Id":"003B","Name":null}]}
    """#

  private static let list = #"""
    {"items":[{"id":9007199254740993123,"name":"a/b","owner":{"login":"ann"},"updated_at":"2026-01-02T03:04:05Z"},
     {"id":"x","updated_at":null,"gone":true}],"meta":{"total":2,"next":"https://h/x?page=2","token":"t"}}
    """#

  private static let target = #"""
    {"type":"rest","connection":"c","url":"/orgs/{org}/repos","vars":{"org":"acme"},"params":{"per_page":"10"},"itemsPath":"items",
     "modificationDateField":"updated_at","paging":{"style":"bodyUrl","nextPath":"meta.next"},"totalPath":"meta.total",
     "incremental":{"mode":"param","params":{"since":"{since}"},"overlapMs":1000,"order":"ascending","timeZone":"Europe/Berlin"},
     "map":{"login":"owner.login"},"omit":["name"],"where":[{"path":"owner","exists":true}],"deletedPath":"gone",
     "ghosts":{"mode":"fullList","confirm":"walks"},"headers":{"X-A":"b"}}
    """#

  private static let search = #"""
    {"type":"rest","connection":"c","url":"/search","method":"POST","body":{"page":{"size":2}},"itemsPath":"items",
     "paging":{"style":"cursor","in":"body","cursorParam":"page.token","cursorPath":"meta.token"},"incremental":{"mode":"hash"}}
    """#
}
