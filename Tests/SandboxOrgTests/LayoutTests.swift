import Foundation
import JSON
import SandboxOrg
import Testing

private let data = "/services/data/v66.0"

@Suite struct LayoutTests {
  @Test func layouts_ofAccount_haveSectionsRowsAndItems() async throws {
    try await withOrg { _, client in
      let all = try await client.send("GET", "\(data)/sobjects/Account/describe/layouts")
      #expect(all.json["recordTypeMappings"]?.arrayValue?.first?["recordTypeId"] == "012000000000000AAA")
      let one = try await client.send("GET", "\(data)/sobjects/Account/describe/layouts/012000000000000")
      #expect(all.json["layouts"] == .array([one.json]))
      let sections = one.json["detailLayoutSections"]?.arrayValue ?? []
      #expect(sections.first?["heading"] == "Account Information" && sections.count == 4)
      let item = sections.first?["layoutRows"]?.arrayValue?.first?["layoutItems"]?.arrayValue?.first
      #expect(item?["label"] == "Account Name" && item?["required"] == true && item?["editableForNew"] == true)
      let component = item?["layoutComponents"]?.arrayValue?.first
      #expect(component?["value"] == "Name" && component?["details"]?["type"] == "string")
      let lists = one.json["relatedLists"]?.arrayValue?.compactMap { $0["name"]?.stringValue } ?? []
      #expect(lists.contains("Contacts") && lists.contains("Cases"))
      #expect(try await client.send("GET", "\(data)/sobjects/Account/describe/layouts/012000000000001").status == 404)
      #expect(try await client.send("GET", "\(data)/sobjects/Organization/describe/layouts").status == 404)
      #expect(try await client.send("GET", "\(data)/sobjects/User/describe/namedLayouts/UserAlt").status == 200)
      #expect(try await client.send("GET", "\(data)/sobjects/User/describe/namedLayouts/Other").status == 404)
      #expect(
        try await client.send("GET", "\(data)/sobjects/Account/describe/approvalLayouts").text == #"{"approvalLayouts":[]}"#)
    }
  }

  @Test func compactLayouts_nameTheObjectsMainFields() async throws {
    try await withOrg { _, client in
      let answer = try await client.send("GET", "\(data)/sobjects/Contact/describe/compactLayouts")
      let layout = answer.json["compactLayouts"]?.arrayValue?.first
      let fields = layout?["fieldItems"]?.arrayValue?.compactMap {
        $0["layoutComponents"]?.arrayValue?.first?["value"]?.stringValue
      }
      #expect(layout?["name"] == "SYSTEM" && fields?.first == "Name" && fields?.count == 5)
      let several = try await client.send("GET", "\(data)/compactLayouts?q=Account,Contact")
      #expect(several.json.objectValue?.keys == ["Account", "Contact"])
    }
  }

  @Test func uiLayout_asLayoutSyncAsks_repeatsTypeAndMode() async throws {
    try await withOrg { _, client in
      let path = "\(data)/ui-api/layout"
      let answer = try await client.send("GET", "\(path)/Account?formFactor=Medium&layoutType=Compact&mode=Edit")
      #expect(answer.json["layoutType"] == "Compact" && answer.json["mode"] == "Edit" && answer.json["id"] == .null)
      let items = answer.json["sections"]?.arrayValue?.first?["layoutRows"]?.arrayValue?.first?["layoutItems"]
      #expect(items?.arrayValue?.first?["layoutComponents"]?.arrayValue?.first?["apiName"] == "Name")
      let full = try await client.send("GET", "\(path)/Account?recordTypeId=012000000000000AAA")
      #expect(full.json["layoutType"] == "Full" && full.json["mode"] == "View" && full.json["sections"]?.arrayValue?.count == 4)
      #expect(full.json["eTag"] != answer.json["eTag"])
      for query in ["formFactor=Huge", "layoutType=Half", "mode=Look", "recordTypeId=012000000000001AAA"] {
        let bad = try await client.send("GET", "\(path)/Account?\(query)")
        #expect(bad.status == 400 && bad.errorCode == "ILLEGAL_QUERY_PARAMETER_VALUE", "\(query)")
      }
      #expect(try await client.send("GET", "\(path)/Nothing").status == 404)
      let info = try await client.send("GET", "\(data)/ui-api/object-info/account")
      #expect(info.json["fields"]?["Name"]?["required"] == true && info.json["apiName"] == "Account")
    }
  }

  @Test func listViews_describeAndGiveRows() async throws {
    try await withOrg { server, client in
      _ = try await client.json("POST", "\(data)/sobjects/Account", #"{"Name":"mine"}"#)
      try server.create("Account", fields: ["Name": "theirs"])
      let list = try await client.send("GET", "\(data)/sobjects/Account/listviews")
      let views = list.json["listviews"]?.arrayValue ?? []
      #expect(list.json["size"] == 2 && views.compactMap { $0["developerName"]?.stringValue } == ["AllAccounts", "MyAccounts"])
      var counts: [Int] = []
      for view in views {
        let results = try await client.send("GET", view["resultsUrl"]?.stringValue ?? "")
        counts.append(results.json["records"]?.arrayValue?.count ?? -1)
        let description = try await client.send("GET", view["describeUrl"]?.stringValue ?? "")
        let query = try await client.query(description.json["query"]?.stringValue ?? "")
        #expect(query.json["totalSize"] == results.json["size"])
      }
      #expect(counts == [2, 1])
      #expect(try await client.send("GET", "\(data)/sobjects/Account/listviews/00BgL0000009999/results").status == 404)
      #expect(try await client.send("GET", "\(data)/sobjects/Account/listviews/AllAccounts/results?limit=0").status == 400)
    }
  }
}
