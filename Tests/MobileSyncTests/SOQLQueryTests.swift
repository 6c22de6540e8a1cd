import JSON
import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows D9 and D11–D14 of the acceptance list.
@Suite struct SOQLQueryTests {
  @Test func text_nothingChanged_isTheSame() {
    let text = "select Id, Name from Account where Id in (select Id from Account) and Name like 'Mad Max' limit 1000"
    #expect(SOQLQuery(text).text == text)
  }

  @Test func addingSelect_twice_putsTheLatestFirst() {
    let query = SOQLQuery("SELECT Description FROM Account").addingSelect("Name").addingSelect("Id")
    #expect(query.text == "select Id,Name,Description from Account")
  }

  @Test(arguments: [
    (
      "SELECT Description FROM Account WHERE FirstName = 'James'",
      "select Description from Account where LastModifiedDate > 123 and FirstName = 'James'"
    ),
    ("SELECT Description FROM Account", "select Description from Account where LastModifiedDate > 123"),
    (
      "SELECT Description FROM Account LIMIT 1000",
      "select Description from Account where LastModifiedDate > 123 limit 1000"
    ),
    (
      "select Id from Account where Id in ('a','b') and Name = 'John'",
      "select Id from Account where LastModifiedDate > 123 and Id in ('a','b') and Name = 'John'"
    ),
    (
      "select Id from Account where Id != null or Name != null",
      "select Id from Account where LastModifiedDate > 123 and (Id != null or Name != null)"
    ),
    (
      "select Id from A where (a = 1 or b = 2) and c = ' or '",
      "select Id from A where LastModifiedDate > 123 and (a = 1 or b = 2) and c = ' or '"
    ),
    (
      "select Id from A where a = 1\nOR\tb = 2 order by c",
      "select Id from A where LastModifiedDate > 123 and (a = 1\nOR\tb = 2) order by c"
    ),
  ])
  func addingWhere_table(query: String, expected: String) {
    #expect(SOQLQuery(query).addingWhere("LastModifiedDate > 123").text == expected)
  }

  @Test(arguments: [
    (
      "SELECT Description FROM Account LIMIT 1000",
      "select Description from Account order by LastModifiedDate limit 1000"
    ),
    ("SELECT Description FROM Account", "select Description from Account order by LastModifiedDate"),
    (
      "SELECT Description FROM Account ORDER BY FirstName DESC",
      "select Description from Account order by LastModifiedDate"
    ),
  ])
  func replacingOrderBy_table(query: String, expected: String) {
    #expect(SOQLQuery(query).replacingOrderBy("LastModifiedDate").text == expected)
  }

  @Test func replacingOrderBy_empty_dropsIt() {
    #expect(
      SOQLQuery("SELECT Description FROM Account ORDER BY FirstName LIMIT 1000").replacingOrderBy("").text
        == "select Description from Account limit 1000")
  }

  @Test func replacingSelect_twice_keepsTheLast() {
    let query = SOQLQuery("SELECT A, (SELECT B FROM Cs) FROM D").replacingSelect("X").replacingSelect("Y")
    #expect(query.text == "select Y from D")
  }

  @Test(arguments: [
    ("SELECT Id FROM Account ORDER BY FirstName", true),
    ("SELECT Id FROM Account order  by FirstName", true),
    ("SELECT Id FROM Account", false),
    (#"SELECT Id FROM Account WHERE Name = ' order by \' order by \''"#, false),
    ("SELECT Id FROM Account WHERE Id IN (SELECT Id FROM Account ORDER BY FirstName) LIMIT 1000", false),
  ])
  func hasOrderBy_table(query: String, expected: Bool) {
    #expect(SOQLQuery(query).hasOrderBy == expected)
  }

  @Test(arguments: [
    ("SELECT Id FROM A ORDER BY LastModifiedDate", true), ("SELECT Id FROM A ORDER BY lastmodifieddate LIMIT 1", true),
    ("SELECT Id FROM A ORDER BY LastModifiedDate DESC", false), ("SELECT Id FROM A ORDER BY LastModifiedDate, Id", false),
    ("SELECT Id FROM A ORDER BY Name", false), ("SELECT Id FROM A", false),
  ])
  func isOrdering_table(query: String, expected: Bool) {
    #expect(SOQLQuery(query).isOrdering(by: "LastModifiedDate") == expected)
  }

  @Test(arguments: [
    ("SELECT Id, Account.Name FROM Contact", "Account"), ("SELECT c.Id, c.Account.Owner.Name FROM Contact c", "Account"),
    ("SELECT Contact.Id, Contact.Name FROM Contact", ""), ("SELECT Id, (SELECT Id, Owner.Name FROM Cases) FROM Account", ""),
    ("SELECT COUNT(Id), Owner . Name FROM Account", "Owner"), ("SELECT Parent.Name, Parent.Id FROM Account", "Parent Parent"),
    ("", ""), ("SELECT . FROM .", ""),
  ])
  func parents_table(query: String, expected: String) {
    #expect(SOQLQuery(query).parents == expected.split(separator: " ").map(String.init))
  }

  @Test(arguments: [
    ("SELECT Name FROM Account", "Name", true),
    ("SELECT Id,\n  name , Phone FROM Account", "Name", true),
    ("SELECT LastName FROM Account", "Name", false),
    ("SELECT Name, (SELECT LastName FROM Contacts) FROM Account", "LastName", false),
    ("SELECT Id FROM Account WHERE Name = 'x'", "Name", false),
    ("SELECT Owner.Name FROM Account", "Name", false),
    ("SELECT a.Id, a.Owner.Name FROM Account a", "Id", true), ("SELECT a.Id FROM Account AS a, a.Owner o", "ID", true),
    ("SELECT Account.Id FROM Account", "Id", true), ("SELECT o.Id FROM Account a, a.Owner o", "Id", false),
    ("SELECT FIELDS(STANDARD) FROM Account", "LastModifiedDate", true),
    ("SELECT COUNT(Id) FROM Account", "Id", false),
  ])
  func isSelecting_table(query: String, field: String, expected: Bool) {
    #expect(SOQLQuery(query).isSelecting(field) == expected)
  }

  @Test(arguments: [
    "SELECT COUNT() FROM A", "select count ( ) from A", "SELECT SUM(Year__c)FROM Contact", "SELECT Avg(x)\nFROM A",
    "SELECT COUNT_DISTINCT(Name) n FROM A", "SELECT MIN\t(x),MAX(y) FROM A", "SELECT Name,sum(x) FROM A",
    "SELECT Name , SUM (x) FROM A", "SELECT FORMAT(MAX(CreatedDate)) latest FROM A",
    "SELECT CALENDAR_YEAR( convertTimezone( min(d) ) ) FROM A", "SELECT Name FROM A GROUP BY Name",
    "SELECT Name FROM A GROUP  BY ROLLUP(Name)",
    "SELECT DISTANCE(Place__c, GEOLOCATION(1,2), 'mi'), COUNT(Id) FROM A",
  ])
  func isAggregate_groupsAndFunctions_areSeen(query: String) { #expect(SOQLQuery(query).isAggregate) }

  @Test(arguments: [
    "SELECT Id FROM A", "SELECT Sum, Max, Count FROM A", "SELECT Id,Min FROM A", "SELECT a.Avg FROM A a",
    "SELECT Max,(SELECT Id FROM Contacts) FROM A", "SELECT Max, (SELECT Id FROM Contacts) FROM A",
    "SELECT Sum__c, checksum FROM A", "SELECT toLabel(Max) FROM A", "SELECT FORMAT(convertCurrency(Sum)) FROM A",
    "SELECT my_sum(x) FROM A", "SELECT DISTANCE(Place__c, GEOLOCATION(1,2), 'sum(x)') FROM A",
    "SELECT Id FROM A WHERE Name = 'SUM(x)'", "SELECT Id FROM A WHERE Name IN ('group by','COUNT()')",
    "SELECT Id, (SELECT Id FROM Bs WHERE Name = ' group by count(x)') FROM A", "SELECT FIELDS(ALL) FROM A LIMIT 200",
    "SELECT TYPEOF Who WHEN Lead THEN Sum ELSE Id END FROM Task",
    "SELECT Id FROM A WHERE Id IN (SELECT MAX(Id) FROM B GROUP BY Name)",
  ])
  func isAggregate_fieldsTextsAndSubqueries_areNot(query: String) { #expect(!SOQLQuery(query).isAggregate) }

  @Test func isAggregate_deepNesting_ends() {
    let depth = 20_000
    let nested = String(repeating: "f(", count: depth) + "SUM(x)" + String(repeating: ")", count: depth)
    _ = SOQLQuery("SELECT \(nested) FROM A").isAggregate
  }

  @Test(arguments: [
    ("SELECT Id FROM A USING SCOPE mine", "select Id from A using scope mine where p order by d"),
    ("SELECT Id FROM A WITH SECURITY_ENFORCED", "select Id from A where p with SECURITY_ENFORCED order by d"),
    ("SELECT Id FROM A LIMIT 10 FOR VIEW", "select Id from A where p order by d limit 10 for VIEW"),
    ("SELECT Id FROM A LIMIT 10 OFFSET 5 ALL ROWS", "select Id from A where p order by d limit 10 offset 5 all rows"),
    ("SELECT Id FROM A FOR VIEW UPDATE TRACKING", "select Id from A where p order by d for VIEW update TRACKING"),
    (
      "SELECT Id FROM A GROUP BY Id HAVING COUNT(Id) > 1",
      "select Id from A where p group by Id having COUNT(Id) > 1 order by d"
    ),
    ("SELECT Id FROM A LIMIT 0", "select Id from A where p order by d"),
    ("SELECT Limit, For, Order FROM A", "select Limit, For, Order from A where p order by d"),
  ])
  func change_furtherClauses_keepTheirPlace(query: String, expected: String) {
    #expect(SOQLQuery(query).addingWhere("p").replacingOrderBy("d").text == expected)
  }
}

@Suite struct SoqlTargetTests {
  private func target(_ query: String, date: String? = nil) throws -> SoqlSyncDownTarget {
    var json: JSONObject = ["type": "soql", "query": .string(query)]
    if let date { json["modificationDateFieldName"] = .string(date) }
    return try SoqlSyncDownTarget(json)
  }

  @Test(arguments: [
    (
      "select FirstName, LastName from Contact",
      "select Id,LastModifiedDate,FirstName, LastName from Contact order by LastModifiedDate"
    ),
    ("SELECT Id, Name FROM Account", "select LastModifiedDate,Id, Name from Account order by LastModifiedDate"),
    (
      "SELECT Name, lastmodifieddate FROM Account ORDER BY Name",
      "select Id,Name, lastmodifieddate from Account order by Name"
    ),
    ("SELECT Id, LastModifiedDate FROM Account ORDER  BY Name", "SELECT Id, LastModifiedDate FROM Account ORDER  BY Name"),
    ("SELECT Id\nFROM Account\nLIMIT 3", "select LastModifiedDate,Id from Account order by LastModifiedDate limit 3"),
  ])
  func make_query_isNormalised(query: String, expected: String) throws {
    let target = try target(query)
    #expect(target.json["query"] == .string(expected))
    #expect(target.json["idFieldName"] == "Id" && target.json["modificationDateFieldName"] == "LastModifiedDate")
  }

  @Test func make_queryMissing_isRefused() {
    #expect(throws: SyncError(.invalidTarget, "No query defined")) { try SoqlSyncDownTarget(["type": "soql"]) }
    #expect(throws: SyncError(.invalidTarget, "No table specified: select Id")) {
      try SoqlSyncDownTarget(["query": "select Id"])
    }
    #expect(throws: SyncError(.invalidTarget, "No field selected: ")) { try SoqlSyncDownTarget(["query": ""]) }
  }

  @Test(arguments: [
    (
      "select Id, LastModifiedDate from Account where Name = 'John' order by LastModifiedDate limit 100",
      "select Id, LastModifiedDate from Account where LastModifiedDate > 2015-02-05T21:12:03.956+0000"
        + " and Name = 'John' order by LastModifiedDate limit 100"
    ),
    (
      "SELECT ID, LASTMODIFIEDDATE FROM ACCOUNT ORDER BY LASTMODIFIEDDATE",
      "select ID, LASTMODIFIEDDATE from ACCOUNT where LastModifiedDate > 2015-02-05T21:12:03.956+0000"
        + " order by LASTMODIFIEDDATE"
    ),
  ])
  func query_sinceAStamp_isIncremental(query: String, expected: String) throws {
    #expect(try target(query).query(since: 1_423_170_723_956) == expected)
    #expect(try target(query).query(since: -1) == query)
  }

  @Test func query_otherDateField_isUsed() throws {
    let target = try target("select Id from Account", date: "SystemModstamp")
    #expect(
      target.query(since: 1_423_170_723_956)
        == "select SystemModstamp,Id from Account where SystemModstamp > 2015-02-05T21:12:03.956+0000 order by SystemModstamp")
    #expect(target.isSortedByModification)
  }

  @Test(arguments: [
    ("SELECT Name FROM Account WHERE Name = 'James Bond'", "select Id from Account where Name = 'James Bond'"),
    (
      "SELECT Name, (SELECT Id FROM Contacts) FROM Account WHERE Id IN (SELECT AccountId FROM Contact)",
      "select Id from Account where Id IN (SELECT AccountId FROM Contact)"
    ),
    ("SELECT From_customer__c FROM Account", "select Id from Account"),
    (
      "SELECT From_customer__c FROM Account WHERE Name = 'James Bond' LIMIT 10",
      "select Id from Account where Name = 'James Bond' order by LastModifiedDate limit 10"
    ),
  ])
  func ghostQuery_table(query: String, expected: String) throws {
    #expect(try target(query).ghostQuery == expected)
  }

  @Test func make_batchSizeNotPositive_isRefused() {
    #expect(throws: SyncError.self) { try SoqlSyncDownTarget(["query": "select Id from A", "maxBatchSize": 0]) }
  }
}
