import JSON
import Testing
import Tureen

/// Tests typed targets and their JSON form.
@Suite struct TypedTargetTests {
  private static let family = ParentChildren(
    .init("Account", in: "accounts"), .init("Contact", in: "contacts", plural: "Contacts", parentIdFieldName: "AccountId"),
    .lookup,
    parentFieldlist: ["Name"], childrenFieldlist: ["LastName"], parentSoqlFilter: "Name LIKE 'B%'",
    uploads: .init(create: ["Name"], childrenCreate: ["LastName"]))

  private static func issues() -> RestCollection {
    var issues = RestCollection(
      "github", "/repos/{owner}/issues", paging: .link(rel: "next"), incremental: .param(["since": "{since}"]))
    issues.vars = ["owner": "acme"]
    issues.modificationDateField = "updated_at"
    issues.others = ["omit": ["body"]]
    return issues
  }

  private static let downTargets: [(DownTarget, String)] = [
    (.soql("SELECT Id FROM Account"), #"{"type":"soql","query":"SELECT Id FROM Account"}"#),
    (.soql("SELECT Id FROM Account", maxBatchSize: 200), #"{"type":"soql","query":"SELECT Id FROM Account","maxBatchSize":200}"#),
    (.sosl("FIND {a}"), #"{"type":"sosl","query":"FIND {a}"}"#),
    (.mru("Contact", fieldlist: ["LastName"]), #"{"type":"mru","sobjectType":"Contact","fieldlist":["LastName"]}"#),
    (
      .refresh("Contact", fieldlist: ["LastName"], soupName: "found", countIdsPerSoql: 10),
      #"{"type":"refresh","sobjectType":"Contact","soupName":"found","fieldlist":["LastName"],"countIdsPerSoql":10}"#
    ),
    (.layout("Contact", mode: "Edit"), #"{"type":"layout","sobjectType":"Contact","mode":"Edit"}"#),
    (.metadata("Contact"), #"{"type":"metadata","sobjectType":"Contact"}"#),
    (
      .briefcase([BriefcaseInfo("Account", into: "accounts", fieldlist: ["Name"])], countIdsPerRetrieve: 500),
      #"{"type":"briefcase","infos":[{"sobjectType":"Account","soupName":"accounts","fieldlist":["Name"]}],"countIdsPerRetrieve":500}"#
    ),
    (
      .rest(issues()),
      #"{"type":"rest","connection":"github","url":"/repos/{owner}/issues","vars":{"owner":"acme"},"#
        + #""modificationDateField":"updated_at","paging":{"style":"link","rel":"next"},"#
        + #""incremental":{"mode":"param","params":{"since":"{since}"}},"omit":["body"]}"#
    ),
    (.parse(ParseClass("Book", on: "shop")), #"{"type":"parse","className":"Book","connection":"shop"}"#),
    (
      .parentChildren(family),
      #"{"type":"parent_children","parent":{"sobjectType":"Account","soupName":"accounts"},"#
        + #""children":{"sobjectType":"Contact","soupName":"contacts","sobjectTypePlural":"Contacts","parentIdFieldName":"AccountId"},"#
        + #""relationshipType":"LOOKUP","parentFieldlist":["Name"],"childrenFieldlist":["LastName"],"#
        + #""parentSoqlFilter":"Name LIKE 'B%'","createFieldlist":["Name"],"childrenCreateFieldlist":["LastName"]}"#
    ),
  ]

  @Test(arguments: 0..<11) func downTarget_bothWays(number: Int) throws {
    let (target, text) = Self.downTargets[number]
    #expect(target.json.serialized() == Array(text.utf8), "\(JSONValue.object(target.json).text)")
    #expect(DownTarget(try #require(try JSONValue(parsing: text).objectValue)) == target)
  }

  /// Members that the types do not know are preserved.
  @Test(arguments: [
    #"{"type":"soql","query":"SELECT Id FROM Account","extra":1}"#, #"{"type":"soql","query":7}"#,
    #"{"type":"custom","luaImpl":"f"}"#,
    #"{}"#, #"{"type":"mru","sobjectType":"Contact","fieldlist":["a",1]}"#, #"{"type":"metadata","sobjectType":null}"#,
    #"{"type":"parent_children","parent":{"sobjectType":"A","soupName":"a","x":1}}"#,
    #"{"type":"briefcase","infos":[{"sobjectType":"A"}]}"#, #"{"type":"soql","query":"q","maxBatchSize":2.5}"#,
  ])
  func downTarget_othersAndMistakes_areKept(text: String) throws {
    let json = try #require(try JSONValue(parsing: text).objectValue)
    #expect(DownTarget(json) == .json(json) && DownTarget(json).json == json)
  }

  @Test(arguments: [
    #"{"style":"none"}"#, #"{"style":"link"}"#, #"{"style":"bodyUrl","nextPath":"next"}"#,
    #"{"style":"cursor","cursorPath":"next","cursorParam":"cursor"}"#,
    #"{"style":"page","pageParam":"page","sizeParam":"per_page","pageSize":50}"#, #"{"style":"offset","offsetParam":"start"}"#,
    #"{"style":"keyset","afterParam":"after","afterField":"id"}"#, #"{"style":"header","nextHeader":"X-Next"}"#,
    #"{"style":"link","endStatus":[400]}"#,
  ])
  func paging_ofACollection_bothWays(paging: String) throws {
    let text = #"{"type":"rest","connection":"c","url":"/a","paging":\#(paging)}"#
    let json = try #require(try JSONValue(parsing: text).objectValue)
    guard case .rest(let collection) = DownTarget(json) else {
      Issue.record("no collection: \(text)")
      return
    }
    #expect(DownTarget.rest(collection).json == json)
  }

  @Test(arguments: ["full", "hash", "etag"]) func incremental_words_bothWays(mode: String) throws {
    let json: JSONObject = ["type": "rest", "connection": "c", "url": "/a", "incremental": ["mode": .string(mode)]]
    #expect(DownTarget(json).json == json)
  }

  @Test func upTargets_bothWays() throws {
    let fields = UploadFields(create: ["Name"], update: ["Name"], externalIdFieldName: "Ext__c", maxBatchSize: 10)
    for target in [UpTarget.collection(fields), .batch(fields), .plain(), .parentChildren(Self.family), .rest(Self.issues())] {
      #expect(UpTarget(target.json) == target)
    }
    #expect(UpTarget.collection().json == ["type": "collection"])
    let custom: JSONObject = ["iOSImpl": "MyTarget"]
    #expect(UpTarget(custom) == .json(custom))
  }
}
