import JSON
import TestSupport
import Testing

@testable import RestCollections

/// Makes a target from JSON text, adding `type`, `connection` and `url` if they are missing.
func target(_ text: String = "{}") throws -> RestTarget {
  var json: JSONObject = ["type": "rest", "connection": "api", "url": "/items"]
  for (key, value) in try #require(try JSONValue(parsing: text).objectValue) { json[key] = value }
  return try RestTarget(json)
}

struct RestTargetTests {
  static let github = #"""
    {"type":"rest","connection":"github","url":"/orgs/{org}/repos","vars":{"org":"facebook"},
     "params":{"per_page":"100","type":"all","sort":"full_name"},"headers":{"Accept":"application/vnd.github+json"},
     "itemsPath":"$","idField":"id","modificationDateField":"updated_at","dateFormat":"iso8601","paging":{"style":"link"},
     "incremental":{"mode":"sorted","params":{"sort":"updated","direction":"desc"},"overlapMs":2000},
     "map":{"ownerLogin":"owner.login"},"transform":"repos.decorate","ghosts":{"mode":"fullList"},
     "up":{"precondition":"check","pauseMs":1000,"read":{"url":"/repos/{+full_name}"},"delete":null,
           "create":{"method":"POST","url":"/orgs/{org}/repos","fields":["name","description"],"idPath":"id"},
           "update":{"method":"PATCH","url":"/repos/{+full_name}","fields":["description","homepage"]}}}
    """#
  static let notion = #"""
    {"type":"rest","connection":"notion","method":"POST","url":"/v1/databases/{db}/query","vars":{"db":"d1"},
     "body":{"page_size":100,"sorts":[{"timestamp":"last_edited_time","direction":"ascending"}]},
     "itemsPath":"results","modificationDateField":"last_edited_time","deletedPath":"in_trash",
     "paging":{"style":"cursor","in":"body","cursorParam":"start_cursor","cursorPath":"next_cursor","hasMorePath":"has_more"},
     "incremental":{"mode":"param","order":"ascending","overlapMs":60000,
       "body":{"filter":{"timestamp":"last_edited_time","last_edited_time":{"on_or_after":"{since}"}}}},
     "up":{"read":{"url":"/v1/pages/{id}"},"delete":{"method":"PATCH","url":"/v1/pages/{id}","body":{"in_trash":true}},
       "create":{"url":"/v1/pages","fields":{"properties.Name.title":"properties.Name.title"},"constants":{"parent":{"database_id":"{db}"}}},
       "update":{"url":"/v1/pages/{id}","fields":{"properties.Name.title":"properties.Name.title"}}}}
    """#
  static let graph = #"""
    {"type":"rest","connection":"graph","url":"/users/delta","params":{"$select":"displayName,mail"},"itemsPath":"value",
     "paging":{"style":"bodyUrl","nextPath":"/@odata.nextLink"},"partial":true,"deletedPath":"/@removed",
     "incremental":{"mode":"token","tokenPath":"/@odata.deltaLink","expiredStatus":[400,404,410]},
     "up":{"precondition":"ifMatch","tag":{"path":"/@odata.etag"},"weakTags":true,"delete":{"url":"/users/{id}"},
       "read":{"url":"/users/{id}","params":{"$select":"id,displayName,mail"}},"update":{"url":"/users/{id}","fields":["displayName"],"answer":"none"}}}
    """#

  @Test(arguments: [github, notion, graph])
  func target_examplesOfTheReference_areReadAndWritten(text: String) throws {
    let json = try #require(try JSONValue(parsing: text).objectValue)
    let target = try RestTarget(json)
    #expect(target.json == json)
    #expect(try RestTarget(#require(try JSONValue(parsing: target.json.text).objectValue)) == target)
  }

  @Test func target_leastOfAll_hasEveryDefault() throws {
    let target = try target()
    #expect(target.method == .get && target.params.isEmpty && target.headers.isEmpty && target.body == nil && target.vars.isEmpty)
    #expect(target.items.itemsPath.text == "$" && !target.items.takesMissingItems && target.items.itemPath == nil)
    #expect(target.items.idField.text == "id" && target.items.dateField == nil && target.items.dateFormat == .iso8601)
    #expect(target.paging.style == .none && target.paging.relation == "next" && target.paging.firstPage == 1)
    #expect(
      target.paging.place == .query && target.paging.endsEmpty && target.paging.endStatuses.isEmpty && target.paging.overlap == 0)
    #expect(target.incremental.mode == .full && target.incremental.overlapMs == 2000 && target.incremental.order == .none)
    #expect(target.incremental.expiredStatuses == [400, 404, 410] && target.incremental.zone == .utc)
    #expect(target.ghosts.mode == .none && target.ghosts.maxRatio == 0.5 && target.ghosts.confirmation == nil)
    #expect(target.cache == nil && target.staysOnOrigin && !target.isPartial && target.up == nil && target.detail == nil)
  }

  @Test(arguments: [
    ("page", "\"pageParam\":\"p\"", [404]), ("offset", "\"offsetParam\":\"o\"", [404]), ("link", "\"rel\":\"more\"", []),
  ])
  func paging_endStatus_byStyle(style: String, key: String, statuses: [Int]) throws {
    #expect(try target(#"{"paging":{"style":"\#(style)",\#(key)}}"#).paging.endStatuses == statuses)
  }

  @Test func target_aliases_areWrittenWithTheirMainNames() throws {
    let target = try target(#"{"idFieldName":"key","modificationDateFieldName":"changed"}"#)
    #expect(target.items.idField.text == "key" && target.items.dateField?.text == "changed")
    #expect(target.json["idField"] == "key" && target.json["idFieldName"] == nil)
    #expect(throws: RestTargetError.self) { try self.refused(#"{"idFieldName":"a","idField":"b"}"#) }
  }

  private func refused(_ text: String) throws { _ = try target(text) }

  @Test(arguments: [
    (#"{"pagin":{}}"#, "rest target: 'pagin' is not known here; did you mean 'paging'?"),
    (#"{"type":"rst"}"#, "rest target: 'type' must be 'rest', not 'rst'"), (#"{"type":null}"#, "rest target: 'type' is missing"),
    (#"{"connection":"a b"}"#, "rest target: 'connection' must be a name of 1 to 64 letters, digits, '.', '_' and '-'"),
    (#"{"url":5}"#, "rest target: 'url' must be text, not a number"),
    (#"{"url":"/{org"}"#, "rest target: 'url' is not a template: '/{org' has a '{' without '}'"),
    (#"{"url":"/{org}"}"#, "rest target: 'url' needs a value for 'org', but 'vars' has none"),
    (#"{"method":"PUT"}"#, "rest target: 'method' cannot be 'PUT'; known: GET, POST"),
    (#"{"body":{}}"#, "rest target: 'body' is for lists with \"method\": \"POST\""),
    (#"{"params":{"n":5}}"#, "rest target: 'params' must hold texts; 'n' is a number"),
    (#"{"itemsPath":"a..b"}"#, "rest target: 'itemsPath' is not a path: 'a..b' has an empty step"),
    (
      #"{"itemsPath":"header:X"}"#,
      "rest target: 'itemsPath' is not a path: 'header:X' cannot be a header: it is read from the body"
    ),
    (#"{"idField":"$"}"#, "rest target: 'idField' must lead into the item"),
    (#"{"itemsMissing":"empt"}"#, "rest target: 'itemsMissing' cannot be 'empt'; did you mean 'empty'?"),
    (
      #"{"dateFormat":"yy"}"#,
      "rest target: 'dateFormat' is not a date format: 'yy' has 'yy'; known: iso8601, rfc1123, epoch, epochMs, integer, or a pattern of yyyy MM dd HH mm ss SSS X 'text'"
    ),
    (#"{"paging":{"style":"lnik"}}"#, "rest target, paging: 'style' cannot be 'lnik'; did you mean 'link'?"),
    (#"{"paging":{"stile":"link"}}"#, "rest target, paging: 'stile' is not known here; did you mean 'style'?"),
    (
      #"{"paging":{"style":"cursor","cursorParam":"c"}}"#,
      "rest target, paging: 'cursorPath' is missing; the style 'cursor' needs it"
    ),
    (#"{"paging":{"style":"bodyUrl"}}"#, "rest target, paging: 'nextPath' is missing; the style 'bodyUrl' needs it"),
    (#"{"paging":{"style":"page"}}"#, "rest target, paging: 'pageParam' is missing; the style 'page' needs it"),
    (#"{"paging":{"style":"offset"}}"#, "rest target, paging: 'offsetParam' is missing; the style 'offset' needs it"),
    (#"{"paging":{"style":"keyset"}}"#, "rest target, paging: 'afterParam' is missing; the style 'keyset' needs it"),
    (#"{"paging":{"style":"header"}}"#, "rest target, paging: 'nextHeader' is missing; the style 'header' needs it"),
    (#"{"paging":{"style":"link","pageParam":"p"}}"#, "rest target, paging: 'pageParam' has no meaning with the style 'link'"),
    (#"{"paging":{"style":"page","pageParam":"p","firstPage":2}}"#, "rest target, paging: 'firstPage' must be at most 1, not 2"),
    (#"{"paging":{"sizeParam":"n"}}"#, "rest target, paging: 'pageSize' is missing; 'sizeParam' needs it"),
    (
      #"{"paging":{"style":"page","pageParam":"p","in":"body"}}"#, "rest target: 'method' must be POST for parameters in the body"
    ),
    (
      #"{"paging":{"style":"link","in":"header"}}"#,
      "rest target, paging: 'in' has no meaning with the style 'link', which has no parameter"
    ),
    (
      #"{"paging":{"style":"link","endStatus":[200]}}"#,
      "rest target, paging: 'endStatus' must be a list of HTTP statuses from 400 to 599"
    ),
    (
      #"{"paging":{"style":"link","maxItems":1000}}"#,
      "rest target: 'paging' has 'maxItems', which needs 'modificationDateField' and 'incremental' with the mode 'param' and the order 'ascending'"
    ),
    (
      #"{"incremental":{"mode":"param","params":{"a":"b"}},"modificationDateField":"u"}"#,
      "rest target, incremental: 'params' or 'body' must contain '{since}' with the mode 'param'"
    ),
    (
      #"{"incremental":{"mode":"param","params":{"a":"{since}"}}}"#,
      "rest target, incremental: the mode 'param' needs 'modificationDateField' or 'watermarkPath'"
    ),
    (#"{"incremental":{"mode":"sorted"}}"#, "rest target, incremental: the mode 'sorted' needs 'modificationDateField'"),
    (
      #"{"incremental":{"mode":"sorted","order":"ascending"},"modificationDateField":"u"}"#,
      "rest target, incremental: 'order' cannot be 'ascending' with the mode 'sorted': it reads the newest first"
    ),
    (#"{"incremental":{"mode":"token"}}"#, "rest target, incremental: 'tokenPath' is missing; the mode 'token' needs it"),
    (
      #"{"incremental":{"mode":"token","tokenPath":"t","tokenIn":"header"}}"#,
      "rest target, incremental: 'tokenIn' needs 'tokenParam'; without it the token is a URL"
    ),
    (
      #"{"incremental":{"mode":"hash","tokenPath":"t"}}"#,
      "rest target, incremental: 'tokenPath' has no meaning with the mode 'hash'"
    ),
    (#"{"incremental":{"overlapMs":-1}}"#, "rest target, incremental: 'overlapMs' must be at least 0, not -1"),
    (
      #"{"incremental":{"timeZone":"Mars/Olympus"}}"#,
      "rest target, incremental: 'timeZone' must be UTC, an offset such as +01:00, or a name that /usr/share/zoneinfo has, not 'Mars/Olympus'"
    ),
    (
      #"{"method":"POST","incremental":{"mode":"etag"}}"#,
      "rest target: 'incremental' cannot have the mode 'etag' with POST: such answers have no validators"
    ),
    (#"{"where":[{"path":"a"}]}"#, "rest target, where[1]: needs exactly one of 'exists' and 'in'"),
    (
      #"{"where":[{"path":"a","in":[[]]}]}"#,
      "rest target, where[1]: 'in' must hold texts, numbers, booleans or null, not an array"
    ),
    (#"{"map":{"__local__":"a"}}"#, "rest target: 'map' cannot write '__local__': it belongs to the engine"),
    (#"{"map":{"x":"a[*].b[*]"}}"#, "rest target: 'map' is not a path: 'a[*].b[*]' has '[*]' twice"),
    (#"{"omit":["id"]}"#, "rest target: 'omit' cannot leave out 'id': the sync needs it"),
    (#"{"omit":["a[k=v]"]}"#, "rest target: 'omit' takes members only, not 'a[k=v]'"),
    (#"{"deletedValue":"x"}"#, "rest target: 'deletedValue' needs 'deletedPath'"),
    (#"{"transform":"decorate"}"#, "rest target: 'transform' must name a Lua function as 'module.name', not 'decorate'"),
    (
      #"{"headers":{"X":{"envv":"A"}}}"#,
      "rest target: 'headers' holds 'X', which must be text, {\"env\": NAME}, {\"file\": PATH} or {\"command\": [PROGRAM, ...]}"
    ),
    (#"{"headers":{"Host":"x"}}"#, "rest target: 'headers' cannot set 'Host', which the client sets itself"),
    (#"{"ghosts":{"maxRatio":2}}"#, "rest target, ghosts: 'maxRatio' must be a number above 0 and at most 1"),
    (#"{"ghosts":{"mode":"perId"}}"#, "rest target, ghosts: 'mode' cannot be 'perId' without 'up' with 'read'"),
    (#"{"cache":"never"}"#, "rest target: 'cache' cannot be 'never'; known: default, revalidate, reload, bypass, offline"),
    (#"{"assets":[{"field":"a","store":"db"}]}"#, "rest target, assets[1]: 'store' must be 'files', not 'db'"),
    (#"{"up":{"updte":{}}}"#, "rest target, up: 'updte' is not known here; did you mean 'update'?"),
    (#"{"up":{"create":{"url":"/x"}}}"#, "rest target, up, create: needs 'fields' or 'body'"),
    (
      #"{"up":{"update":{"url":"/x","method":"PUT","fields":["a"]}}}"#,
      "rest target, up, update: 'fields' lists fields for a PUT, which would erase all others; send \"*\", use PATCH, or set 'merges' if the server keeps them"
    ),
    (
      #"{"up":{"update":{"url":"/x","fields":["a"],"newId":"uuid"}}}"#,
      "rest target, up, update: 'newId' is not known here; known: url, method, params, headers, fields, body, constants, wrap, send, merges, nullOnMissing, bodyFormat, contentType, itemPath, answer, idPath"
    ),
    (#"{"up":{"precondition":"check"}}"#, "rest target, up: 'precondition' cannot be 'check' without 'read'"),
    (
      #"{"up":{"tag":{"template":"{etag}"}}}"#,
      "rest target, up, tag: 'template' must contain '{tag}' once and nothing else in braces"
    ),
  ])
  func target_wrong_isRefusedNamingTheKey(text: String, complaint: String) {
    do {
      try refused(text)
      Issue.record("taken: \(text)")
    } catch {
      #expect("\(error)" == complaint)
    }
  }

  @Test func target_wrongKey_saysWhereItStands() throws {
    do {
      try refused(#"{"where":[{"path":"a","exists":true},{"pth":"b"}]}"#)
      Issue.record("taken")
    } catch let error as RestTargetError {
      #expect(error.place == [.key("where"), .position(1), .key("pth")])
    }
  }

  /// Any value of a known key results in a target or in an error that names the key.
  @Test func target_randomValues_areReadOrRefused() throws {
    var random = SeededGenerator(state: 9)
    let values: [JSONValue] = [
      .null, true, 0, -1, 1.5, "", "$", "a.b", "x[", "{since}", "page", "param", [], ["a"], [1], [:], ["mode": "param"],
      ["style": "page"],
      ["url": "/x"], ["path": "a", "exists": true], [["path": "a"]],
    ]
    let inner = ["paging", "incremental", "ghosts", "up", "detail"]
    for _ in 0..<5000 {
      var json: JSONObject = ["type": "rest", "connection": "api", "url": "/items"]
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let key = try #require(RestTarget.keys.dropFirst(3).randomElement(using: &random))
        json[key] = values[Int.random(in: 0..<values.count, using: &random)]
        if inner.contains(key), var object = json[key]?.objectValue {
          object[["mode", "style", "params", "order", "read", "pageParam"].randomElement(using: &random)!] = values.randomElement(
            using: &random)!
          json[key] = .object(object)
        }
      }
      switch Result(catching: { () throws(RestTargetError) in try RestTarget(json) }) {
      case .success(let target): #expect(try RestTarget(target.json) == target)
      case .failure(let error):
        #expect(error.description.hasPrefix("rest target") && !error.place.isEmpty, "\(json.text)")
      }
    }
  }
}
