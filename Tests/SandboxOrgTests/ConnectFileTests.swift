import Foundation
import JSON
import SandboxOrg
import Testing

private let files = "/services/data/v66.0/connect/files"
private let rows = "/services/data/v66.0/sobjects"

private func upload(
  _ title: String?, _ text: String, by client: WireClient, name: String = "note.txt", type: String = "text/plain",
  to target: String = files + "/users/me"
) async throws -> WireClient.Answer {
  var form = TestForm()
  if let title { form.add("title", Array(title.utf8)) }
  form.add("desc", Array("about it".utf8))
  form.add("fileData", fileName: name, type: type, Array(text.utf8))
  return try await form.send(to: target, by: client)
}

extension WireClient.Answer {
  fileprivate var id: String { json["id"]?.stringValue ?? "" }
  fileprivate func titles() -> [String] { json["files"]?.arrayValue?.compactMap { $0["title"]?.stringValue } ?? [] }
}

@Suite struct ConnectFileTests {
  @Test(arguments: ["/connect/files", "/connect/communities/0DBgL0000000001/files"])
  func file_fromUploadToDelete_answersEachStep(root: String) async throws {
    try await withOrg { server, client in
      let root = "/services/data/v66.0" + root
      let made = try await upload("My note", "hello", by: client, to: "\(root)/users/me")
      #expect(made.status == 201 && made.id.hasPrefix("069"))
      #expect(made.json["title"] == "My note" && made.json["description"] == "about it" && made.json["contentSize"] == 5)
      #expect(made.json["mimeType"] == "text/plain" && made.json["fileType"] == "TEXT" && made.json["versionNumber"] == "1")
      #expect(made.json["owner"]?["name"] == "Ada Sandbox" && made.json["sharingRole"] == "OWNER")
      #expect(made.json["createdDate"]?.stringValue?.hasSuffix("Z") == true)
      #expect(made.json["downloadUrl"] == .string("\(root)/\(made.id)/content?versionNumber=1"))
      let details = try await client.send("GET", "\(root)/\(made.id)")
      #expect(details.status == 200 && details.json == made.json)
      let content = try await client.send("GET", "\(root)/\(made.id)/content")
      #expect(content.text == "hello" && content.headers["content-type"] == "text/plain")
      #expect(content.headers["content-disposition"] == "attachment; filename*=UTF-8''My%20note.txt")
      let shares = try await client.send("GET", "\(root)/\(made.id)/file-shares?page=0")
      #expect(shares.json["shares"]?.arrayValue?.map { $0["sharingType"] } == ["I"])
      #expect(shares.json["shares"]?.arrayValue?.first?["entity"]?["name"] == "Ada Sandbox")
      #expect(try await client.send("DELETE", "\(root)/\(made.id)").status == 204)
      for tail in ["", "/content", "/rendition", "/file-shares"] {
        let gone = try await client.send("GET", "\(root)/\(made.id)\(tail)")
        #expect(gone.status == 404 && gone.errorCode == "NOT_FOUND")
      }
      #expect(try await client.send("GET", "\(root)/users/me").titles().isEmpty)
    }
  }

  @Test func upload_asTheMobileSDKSendsIt_takesTheJSONPart() async throws {
    try await withOrg { _, client in
      var form = TestForm()
      form.add("json", type: "application/json; charset=UTF-8", Array(#"{"title":"T","desc":"D"}"#.utf8))
      form.add("fileData", fileName: "picture", type: "image/png", [0x89, 0x50])
      let made = try await form.send(to: "\(files)/users/me", by: client)
      #expect(made.status == 201 && made.json["title"] == "T" && made.json["description"] == "D")
      #expect(made.json["fileExtension"] == "png" && made.json["mimeType"] == "image/png")
      let thumbnail = try await client.send("GET", "\(files)/\(made.id)/rendition?type=THUMB120BY90&page=0")
      #expect(thumbnail.status == 200 && thumbnail.body == [0x89, 0x50] && thumbnail.headers["content-type"] == "image/png")
    }
  }

  @Test func versions_areReadByNumber() async throws {
    try await withOrg { _, client in
      let made = try await upload(nil, "one", by: client)
      #expect(made.json["title"] == "note")
      let second = try await upload("Second", "two!", by: client, to: "\(files)/\(made.id)")
      #expect(second.status == 201 && second.id == made.id && second.json["versionNumber"] == "2")
      let cases: [(String, String)] = [("", "two!"), ("?versionNumber=1", "one"), ("?versionNumber=2", "two!")]
      for (query, text) in cases {
        #expect(try await client.send("GET", "\(files)/\(made.id)/content\(query)").text == text)
      }
      let old = try await client.send("GET", "\(files)/\(made.id)?versionNumber=1")
      #expect(old.json["title"] == "note" && old.json["contentSize"] == 3)
      let byVersion = try await client.send("GET", "\(files)/\(second.json["versionId"]?.stringValue ?? "")")
      #expect(byVersion.id == made.id)
    }
  }

  @Test func lists_tellOwnedSharedAndGroupFiles_inPages() async throws {
    try await withOrg { server, client in
      let other = try server.query("SELECT Id FROM User WHERE FirstName = 'Otto'")["records"]?.arrayValue?[0]["Id"]
      let otto = other?.stringValue ?? ""
      let group = try server.create("Group", fields: ["Name": "G"])
      for title in ["A", "B", "C"] { _ = try await upload(title, title, by: client) }
      let theirs = try server.create("ContentVersion", fields: ["PathOnClient": "theirs.txt", "VersionData": "aGk="])
      let document = try await client.send("GET", "\(files)/\(theirs)").id
      #expect(try await client.send("GET", "\(files)/users/me").titles() == ["C", "B", "A"])
      #expect(try await client.send("GET", "\(files)/users/\(otto)").titles() == ["theirs"])
      for filter in ["sharedwithme", "groups"] {
        #expect(try await client.send("GET", "\(files)/users/me/filter/\(filter)").titles().isEmpty)
      }
      let me = try await client.send("GET", "/services/data/v66.0/chatter/users/me").id
      for entity in [me, group] {
        let share = "{\"ContentDocumentId\":\"\(document)\",\"LinkedEntityId\":\"\(entity)\",\"ShareType\":\"V\"}"
        #expect(try await client.json("POST", "\(rows)/ContentDocumentLink", share).status == 201)
      }
      for filter in ["sharedwithme", "groups"] {
        #expect(try await client.send("GET", "\(files)/users/me/filter/\(filter)?page=0").titles() == ["theirs"])
      }
      let shares = try await client.send("GET", "\(files)/\(document)/file-shares?pageSize=2").json
      #expect(shares["shares"]?.arrayValue?.count == 2)
      #expect(shares["nextPageUrl"] == .string("\(files)/\(document)/file-shares?page=1&pageSize=2"))
      let last = try await client.send("GET", shares["nextPageUrl"]?.stringValue ?? "").json
      #expect(last["shares"]?.arrayValue?.first?["entity"]?["type"] == "Group" && last["nextPageUrl"] == .null)
      let page = try await client.send("GET", "\(files)/users/me?page=1&pageSize=2")
      #expect(page.titles() == ["A"] && page.json["nextPageUrl"] == .null)
      #expect(page.json["previousPageUrl"] == .string("\(files)/users/me?page=0&pageSize=2"))
    }
  }

  @Test func batch_tellsWhichFilesThereAre() async throws {
    try await withOrg { _, client in
      let one = try await upload("1", "x", by: client).id
      let two = try await upload("2", "y", by: client).id
      let good = try await client.send("GET", "\(files)/batch/\(one),\(two)")
      #expect(good.json["hasErrors"] == false)
      #expect(good.json["results"]?.arrayValue?.map { $0["result"]?["title"] } == ["1", "2"])
      let mixed = try await client.send("GET", "\(files)/batch/\(one),069gL0000009999AAA,zzz")
      #expect(mixed.json["hasErrors"] == true)
      #expect(mixed.json["results"]?.arrayValue?.map { $0["statusCode"] } == [200, 404, 404])
      let many = try await client.send("GET", "\(files)/batch/" + Array(repeating: one, count: 101).joined(separator: ","))
      #expect(many.status == 400 && many.errorCode == "INVALID_INPUT")
    }
  }

  @Test func requests_invalid_areRefused() async throws {
    try await withOrg { server, client in
      let id = try await upload("T", "x", by: client).id
      let cases: [(String, Int, String)] = [
        ("/users/me?page=-1", 400, "ILLEGAL_QUERY_PARAMETER_VALUE"), ("/users/me?page=x", 400, "ILLEGAL_QUERY_PARAMETER_VALUE"),
        ("/users/me?pageSize=101", 400, "ILLEGAL_QUERY_PARAMETER_VALUE"), ("/users/005gL0000009999AAA", 404, "NOT_FOUND"),
        ("/\(id)?versionNumber=0", 400, "ILLEGAL_QUERY_PARAMETER_VALUE"), ("/\(id)?versionNumber=2", 404, "NOT_FOUND"),
        ("/\(id)/rendition?type=MOVIE", 400, "ILLEGAL_QUERY_PARAMETER_VALUE"),
        ("/\(id)/rendition?type=PDF", 404, "NOT_FOUND"), ("/\(id)/rendition?type=THUMB720BY480", 404, "NOT_FOUND"),
        ("/nothing", 404, "NOT_FOUND"),
      ]
      for (tail, status, code) in cases {
        let answer = try await client.send("GET", files + tail)
        #expect(answer.status == status && answer.errorCode == code, "\(tail): \(answer.text)")
      }
      let plain = try await client.json("POST", "\(files)/users/me", "{}")
      #expect(plain.status == 400 && plain.errorCode == "POST_BODY_PARSE_ERROR")
      var empty = TestForm()
      empty.add("title", Array("T".utf8))
      #expect(try await empty.send(to: "\(files)/users/me", by: client).errorCode == "POST_BODY_PARSE_ERROR")
      let otto = try server.query("SELECT Id FROM User WHERE FirstName = 'Otto'")["records"]?.arrayValue?[0]["Id"]
      let foreign = try await upload("T", "x", by: client, to: "\(files)/users/\(otto?.stringValue ?? "")")
      #expect(foreign.status == 403 && foreign.errorCode == "INSUFFICIENT_ACCESS")
    }
  }

  @Test func batch_withABinaryPart_makesTheFile() async throws {
    try await withOrg { _, client in
      let batch =
        #"{"batchRequests":[{"method":"POST","url":"v66.0/sobjects/ContentVersion","richInput":{"PathOnClient":"b.txt"},"#
        + #""binaryPartName":"first","binaryPartNameAlias":"VersionData"},{"method":"POST","url":"v66.0/connect/files/users/me","#
        + #""richInput":{"title":"C"},"binaryPartName":"second","binaryPartNameAlias":"fileData"}]}"#
      var form = TestForm()
      form.add("json", type: "application/json", Array(batch.utf8))
      form.add("first", fileName: "b.txt", type: "text/plain", Array("bytes".utf8))
      form.add("second", fileName: "c.txt", type: "text/plain", Array("more".utf8))
      let answer = try await form.send(to: "/services/data/v66.0/composite/batch", by: client)
      #expect(answer.json["hasErrors"] == false, "\(answer.text)")
      let sizes = try await client.query("SELECT ContentSize FROM ContentVersion ORDER BY ContentSize").json["records"]
      #expect(sizes?.arrayValue?.map { $0["ContentSize"] } == [4, 5])
      var lost = TestForm()
      lost.add("json", type: "application/json", Array(batch.utf8))
      let refused = try await lost.send(to: "/services/data/v66.0/composite/batch", by: client)
      #expect(refused.status == 400 && refused.errorCode == "INVALID_INPUT" && refused.message?.contains("'first'") == true)
    }
  }
}
