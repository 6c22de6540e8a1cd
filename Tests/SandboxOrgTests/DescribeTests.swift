import Foundation
import JSON
import SandboxOrg
import Testing

private let rows = "/services/data/v66.0/sobjects"

/// The describe flags of fields must match what statements allow.
@Suite struct DescribeTests {
  private func describes(_ client: WireClient) async throws -> [(name: String, fields: [JSONValue])] {
    let names = try await client.send("GET", rows).json["sobjects"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
    #expect(names.count > 20)
    var described: [(name: String, fields: [JSONValue])] = []
    for name in names {
      described.append((name, try await client.send("GET", "\(rows)/\(name)/describe").json["fields"]?.arrayValue ?? []))
    }
    return described
  }

  @Test func describe_flags_areWhatStatementsAllow() async throws {
    try await withOrg { server, client in
      func isAllowed(_ soql: String) -> Bool { (try? server.query(soql)) != nil }
      // Links can only be queried for one file or record, whatever else a statement says.
      for (name, fields) in try await describes(client) where name != "ContentDocumentLink" {
        for field in fields {
          let path = field["name"]?.stringValue ?? ""
          let found = [
            isAllowed("SELECT Id FROM \(name) WHERE \(path) = null"), isAllowed("SELECT Id FROM \(name) ORDER BY \(path)"),
            isAllowed("SELECT COUNT(Id) n FROM \(name) GROUP BY \(path)"),
          ]
          let said = ["filterable", "sortable", "groupable"].map { field[$0] == true }
          #expect(found == said, "\(name).\(path): filter, sort, group")
        }
      }
    }
  }

  @Test func describe_types_areThoseOfTheValues() async throws {
    try await withOrg(seed: .custom(accounts: 3, contacts: 9)) { server, client in
      let account = try #require(
        try server.query("SELECT Id FROM Account LIMIT 1")["records"]?.arrayValue?.first?["Id"]?.stringValue)
      let end = "2026-03-02T11:00:00Z"
      try server.create("Case", fields: ["AccountId": .string(account), "Status": "Closed"])
      try server.create(
        "Opportunity",
        fields: ["Name": "o", "StageName": "Proposal", "CloseDate": "2026-05-01", "Amount": 7, "AccountId": .string(account)])
      try server.create("Event", fields: ["StartDateTime": "2026-03-02T10:00:00Z", "EndDateTime": .string(end)])
      try server.create("Attachment", fields: ["Name": "a", "ParentId": .string(account), "Body": "AAEC"])
      var seen: Set<String> = []
      for (name, fields) in try await describes(client) {
        let every = fields.compactMap { $0["name"]?.stringValue }.joined(separator: ", ")
        let found = try await client.query("SELECT \(every) FROM \(name) LIMIT 3")
        for record in found.json["records"]?.arrayValue ?? [] {
          for field in fields {
            let path = field["name"]?.stringValue ?? "", type = field["soapType"]?.stringValue ?? ""
            guard let value = record[path], !value.isNull else { continue }
            seen.insert(type)
            #expect(Self.fits(value, type), "\(name).\(path) is \(type): \(value)")
          }
        }
      }
      #expect(seen.isSuperset(of: ["tns:ID", "xsd:string", "xsd:boolean", "xsd:int", "xsd:double", "xsd:date", "xsd:dateTime"]))
    }
  }

  private static func fits(_ value: JSONValue, _ soapType: String) -> Bool {
    switch soapType {
    case "tns:ID": value.stringValue?.utf8.count == 18
    case "xsd:string", "xsd:base64Binary", "xsd:anyType": value.stringValue != nil
    case "xsd:boolean": value.boolValue != nil
    case "xsd:int": if case .integer = value { true } else { false }
    case "xsd:double": if case .number = value { true } else { false }
    case "xsd:date": value.stringValue?.wholeMatch(of: /\d{4}-\d\d-\d\d/) != nil
    case "xsd:dateTime": value.stringValue?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000\+0000/) != nil
    case "xsd:time": value.stringValue?.wholeMatch(of: /\d\d:\d\d:\d\d\.000Z/) != nil
    case "urn:address", "urn:location": value.objectValue != nil
    default: false
    }
  }
}
