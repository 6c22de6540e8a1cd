import RestClient
import Testing

@testable import Salesforce

@Suite struct EncodingTests {
  @Test(arguments: [
    ("abcXYZ019-._~", "abcXYZ019-._~"),
    ("2026-01-01T00:00:00.000+0000", "2026-01-01T00%3A00%3A00.000%2B0000"),
    ("a b", "a%20b"), ("a&b=c", "a%26b%3Dc"), ("50%", "50%25"), ("a/b?c#d", "a%2Fb%3Fc%23d"),
    ("'O\\'Brien'", "%27O%5C%27Brien%27"), ("é", "%C3%A9"), ("日本", "%E6%97%A5%E6%9C%AC"), ("👋", "%F0%9F%91%8B"),
    ("\r\n\0", "%0D%0A%00"), ("", ""),
  ])
  func encode_table(plain: String, encoded: String) {
    #expect(PercentEncoding.encode(plain) == encoded)
  }

  @Test(arguments: [
    ("O'Brien", #"'O\'Brien'"#), (#"a\b"#, #"'a\\b'"#), ("a\nb\tc\rd", #"'a\nb\tc\rd'"#),
    (#"say "x""#, #"'say \"x\"'"#),
    ("", "''"), ("x' OR Name != '", #"'x\' OR Name != \''"#), (#"\'"#, #"'\\\''"#),
  ])
  func quote_table(text: String, literal: String) {
    #expect(SOQL.quote(text) == literal)
  }

  @Test func prefix_wildcards_standForThemselves() {
    #expect(SOQL.prefix("50%_a'") == #"'50\%\_a\'%'"#)
  }

  @Test func list_empty_hasNoForm() {
    #expect(SOQL.list([]) == nil)
    #expect(SOQL.list(["a", "b'"]) == #"('a','b\'')"#)
  }

  @Test func query_defaultBatch_sendsNoHeader() {
    let requests = SalesforceRequests(apiVersion: "v66.0")
    #expect(requests.query(soql: "SELECT Id FROM Account").headers.isEmpty)
    #expect(requests.query(soql: "SELECT Id FROM Account", batchSize: 2000).headers.isEmpty)
    #expect(requests.query(soql: "SELECT Id FROM Account", batchSize: 9999).headers.isEmpty)
    #expect(requests.query(soql: "", batchSize: 500).headers.map(\.value) == ["batchSize=500"])
    #expect(requests.query(soql: "", batchSize: 1).headers.map(\.value) == ["batchSize=200"])
  }

  @Test func upsert_externalIdWithSlash_staysOneSegment() {
    let request = SalesforceRequests(apiVersion: "v66.0").upsert(
      type: "Account", externalIdField: "ExtId__c", externalId: "a/../b?c", body: [])
    #expect(request.path == "/services/data/v66.0/sobjects/Account/ExtId__c/a%2F..%2Fb%3Fc")
    #expect(request.isRepeatable)
  }

  @Test func upsert_byIdWithoutValue_createsAndIsNotRepeatable() {
    let request = SalesforceRequests(apiVersion: "v66.0").upsert(
      type: "Account", externalIdField: "Id", externalId: "", body: [])
    #expect(request.method == .POST && request.path == "/services/data/v66.0/sobjects/Account/Id")
    #expect(!request.isRepeatable)
  }

  @Test func repeatable_followsWhatTheRequestDoes() {
    let requests = SalesforceRequests(apiVersion: "v66.0")
    #expect(requests.query(soql: "").isRepeatable)
    #expect(requests.collectionRetrieve(type: "Account", ids: ["1"], fields: ["Id"]).isRepeatable)
    #expect(requests.deleteRecord(type: "Account", id: "1").isRepeatable)
    #expect(!requests.createRecord(type: "Account", body: []).isRepeatable)
    #expect(!requests.collectionCreate(records: []).isRepeatable)
    #expect(requests.collectionUpsert(type: "A", externalIdField: "X__c", records: []).isRepeatable)
    #expect(!requests.collectionUpsert(type: "A", externalIdField: "id", records: []).isRepeatable)
  }

  @Test func collections_bodies_matchTheWireForm() {
    let requests = SalesforceRequests(apiVersion: "v66.0")
    let create = requests.collectionCreate(records: Array(#"[{"Name":"A"}]"#.utf8))
    #expect(String(decoding: create.body ?? [], as: UTF8.self) == #"{"allOrNone":false,"records":[{"Name":"A"}]}"#)
    let retrieve = requests.collectionRetrieve(type: "Account", ids: ["1", "2"], fields: ["Id"])
    #expect(String(decoding: retrieve.body ?? [], as: UTF8.self) == #"{"ids":["1","2"],"fields":["Id"]}"#)
    let delete = requests.collectionDelete(ids: ["1", "2"])
    #expect(delete.query.map { "\($0.name)=\($0.value)" } == ["allOrNone=false", "ids=1,2"])
  }

  @Test(arguments: [
    ("https://Example.com/x", "example.com", 443), ("http://127.0.0.1:8080", "127.0.0.1", 8080),
    ("HTTP://[::1]:81/a", "[::1]", 81), ("http://[::1]", "[::1]", 80), ("https://h?x@y", "h", 443),
  ])
  func address_parts(url: String, host: String, port: Int) throws {
    let address = try #require(WebAddress(url))
    #expect(address.host == host && address.port == port)
  }

  @Test(arguments: [
    "ftp://a", "/path", "https://", "https://user@host", "https://h:0", "https://h:99999", "https://h:",
    "https://:443", "",
  ])
  func address_unusable_isNil(url: String) {
    #expect(WebAddress(url) == nil)
  }

  @Test func address_longerThanAnyName_isNil() {
    #expect(WebAddress("https://" + String(repeating: "a", count: 255)) != nil)
    #expect(WebAddress("https://" + String(repeating: "a", count: 256) + "/x") == nil)
  }

  @Test func address_loopback_isNumericNotByPrefix() {
    #expect(WebAddress("http://localhost")?.isLoopback == true)
    #expect(WebAddress("http://127.1.2.3")?.isLoopback == true)
    #expect(WebAddress("http://127.evil.example.com")?.isLoopback == false)
    #expect(WebAddress("http://127.0.0.1.example")?.isLoopback == false)
  }
}
