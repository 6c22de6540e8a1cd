import Foundation
import JSON
import SandboxOrg
import Testing

private let rows = "/services/data/v66.0/sobjects"

/// Builds a multipart body as real senders do.
struct TestForm {
  var boundary = "x-boundary-1"
  var lineEnd = "\r\n"
  private(set) var body: [UInt8] = []

  mutating func add(_ name: String, fileName: String? = nil, type: String? = nil, _ bytes: [UInt8]) {
    let file = fileName.map { "; filename=\"\($0)\"" } ?? ""
    let kind = type.map { "Content-Type: \($0)\(lineEnd)" } ?? ""
    body += Array(
      "--\(boundary)\(lineEnd)Content-Disposition: form-data; name=\"\(name)\"\(file)\(lineEnd)\(kind)\(lineEnd)".utf8)
    body += bytes + Array(lineEnd.utf8)
  }

  func send(_ method: String = "POST", to target: String, by client: WireClient) async throws -> WireClient.Answer {
    try await client.send(
      method, target, headers: [("Content-Type", "multipart/form-data; boundary=\"\(boundary)\"")],
      body: body + Array("--\(boundary)--\(lineEnd)".utf8))
  }
}

private func upload(
  _ fields: String, _ bytes: [UInt8], by client: WireClient, binaryFirst: Bool = false, part: String = "VersionData"
) async throws -> WireClient.Answer {
  var form = TestForm()
  if binaryFirst { form.add(part, fileName: "a.bin", type: "application/octet-stream", bytes) }
  form.add(binaryFirst ? "ContentVersion" : "entity_content", type: "application/json", Array(fields.utf8))
  if !binaryFirst { form.add(part, fileName: "a.bin", type: "application/octet-stream", bytes) }
  return try await form.send(to: "\(rows)/ContentVersion", by: client)
}

extension WireClient {
  /// Returns the records of a query.
  fileprivate func records(_ soql: String) async throws -> [JSONValue] {
    try await query(soql).json["records"]?.arrayValue ?? []
  }
}

@Suite struct FileTests {
  /// Every byte value, with line ends and near-boundaries.
  private static let awkward = Array(UInt8.min...UInt8.max) + Array("\r\n--x-boundary-\r\n\r\n--".utf8)

  // MARK: Upload and download

  /// By name, since long values make long test names.
  private static let contents: [String: [UInt8]] = [
    "every byte": awkward, "nothing": [], "a line end": Array("\r\n".utf8),
    "lines": [UInt8](repeating: 0x0A, count: 300_000),
    "several parts": (0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) },
  ]

  @Test(arguments: [
    ("every byte", false), ("every byte", true), ("nothing", false), ("nothing", true), ("a line end", true), ("lines", false),
    ("several parts", false),
  ])
  func upload_asForm_givesTheSameBytesBack(name: String, binaryFirst: Bool) async throws {
    let bytes = try #require(Self.contents[name])
    try await withOrg { _, client in
      let answer = try await upload(#"{"PathOnClient":"a.txt"}"#, bytes, by: client, binaryFirst: binaryFirst)
      let id = answer.json["id"]?.stringValue ?? ""
      #expect(answer.status == 201 && id.hasPrefix("068") && answer.json["success"] == true)
      #expect(answer.headers["location"] == "\(rows)/ContentVersion/\(id)")
      let data = try await client.send("GET", "\(rows)/ContentVersion/\(id)/VersionData")
      #expect(data.status == 200 && data.body == bytes && !data.isTruncated)
      #expect(data.headers["content-type"] == "application/octet-stream")
      #expect(data.headers["content-length"] == "\(bytes.count)")
      let row = try await client.send("GET", "\(rows)/ContentVersion/\(id)?fields=VersionData,ContentSize")
      #expect(row.json["VersionData"] == .string("\(rows)/ContentVersion/\(id)/VersionData"))
      #expect(row.json["ContentSize"]?.integerValue == Int64(bytes.count))
    }
  }

  @Test func upload_asJSON_makesDocumentVersionAndShares() async throws {
    try await withOrg { server, client in
      let account = try server.create("Account", fields: ["Name": "A"])
      let answer = try await client.json(
        "POST", "\(rows)/ContentVersion",
        "{\"PathOnClient\":\"/tmp/Plan B.PDF\",\"VersionData\":\"aGVsbG8=\",\"Description\":\"d\","
          + "\"FirstPublishLocationId\":\"\(account)\"}")
      #expect(answer.status == 201)
      let version = try await client.records(
        "SELECT Title, FileExtension, FileType, ContentSize, Checksum, VersionNumber, IsLatest, ContentDocumentId, OwnerId "
          + "FROM ContentVersion")[0]
      #expect(version["Title"] == "Plan B" && version["FileExtension"] == "PDF" && version["FileType"] == "PDF")
      #expect(version["ContentSize"] == 5 && version["Checksum"] == "5d41402abc4b2a76b9719d911017c592")
      #expect(version["VersionNumber"] == "1" && version["IsLatest"] == true)
      let document = try await client.records(
        "SELECT Id, Title, Description, FileType, ContentSize, LatestPublishedVersionId, OwnerId FROM ContentDocument")[0]
      #expect(document["Id"] == version["ContentDocumentId"] && document["LatestPublishedVersionId"] == answer.json["id"])
      #expect(document["Title"] == "Plan B" && document["Description"] == "d" && document["ContentSize"] == 5)
      let id = document["Id"]?.stringValue ?? ""
      let links = try await client.records(
        "SELECT LinkedEntityId, ShareType FROM ContentDocumentLink WHERE ContentDocumentId = '\(id)' ORDER BY ShareType")
      #expect(links.map { $0["ShareType"] } == ["V", "I"])
      #expect(links.map { $0["LinkedEntityId"] } == [.string(account), version["OwnerId"]])
    }
  }

  @Test func upload_ofASecondVersion_replacesTheFirst() async throws {
    try await withOrg { _, client in
      _ = try await upload(#"{"Title":"One","PathOnClient":"a.txt"}"#, Array("one".utf8), by: client)
      let document = try await client.records("SELECT Id FROM ContentDocument")[0]["Id"]?.stringValue ?? ""
      let second = try await upload(
        "{\"Title\":\"Two\",\"PathOnClient\":\"b.png\",\"ContentDocumentId\":\"\(document)\"}", Array("second".utf8), by: client)
      #expect(second.status == 201)
      let versions = try await client.records("SELECT VersionNumber, IsLatest, Title FROM ContentVersion ORDER BY VersionNumber")
      #expect(versions.map { $0["VersionNumber"] } == ["1", "2"] && versions.map { $0["IsLatest"] } == [false, true])
      let documents = try await client.records(
        "SELECT Title, FileType, ContentSize, LatestPublishedVersionId FROM ContentDocument")
      #expect(documents.count == 1 && documents[0]["Title"] == "Two" && documents[0]["FileType"] == "PNG")
      #expect(documents[0]["ContentSize"] == 6 && documents[0]["LatestPublishedVersionId"] == second.json["id"])
      #expect(try await client.records("SELECT Id FROM ContentDocumentLink WHERE ContentDocumentId = '\(document)'").count == 1)
    }
  }

  @Test func update_ofTitle_isSeenOnBothSides() async throws {
    try await withOrg { _, client in
      let version = try await upload(#"{"PathOnClient":"a.txt"}"#, [1], by: client).json["id"]?.stringValue ?? ""
      let document = try await client.records("SELECT Id FROM ContentDocument")[0]["Id"]?.stringValue ?? ""
      #expect(try await client.json("PATCH", "\(rows)/ContentVersion/\(version)", #"{"Title":"New"}"#).status == 204)
      #expect(try await client.records("SELECT Title FROM ContentDocument")[0]["Title"] == "New")
      #expect(try await client.json("PATCH", "\(rows)/ContentDocument/\(document)", #"{"Title":"Newer"}"#).status == 204)
      #expect(try await client.records("SELECT Title FROM ContentVersion")[0]["Title"] == "Newer")
    }
  }

  @Test(arguments: [
    (#"{"VersionData":"aGVsbG8="}"#, "REQUIRED_FIELD_MISSING", "Required fields are missing: [PathOnClient]"),
    (#"{"PathOnClient":"a.txt"}"#, "REQUIRED_FIELD_MISSING", "Required fields are missing: [VersionData]"),
    (
      #"{"PathOnClient":"a.txt","VersionData":"%%"}"#, "JSON_PARSER_ERROR",
      "Cannot deserialize instance of base64 from VALUE_STRING or request may be missing a required field"
        + " at [line:1, column:39]"
    ),
    (
      #"{"PathOnClient":"a.txt","VersionData":"aGVsbG8=","FirstPublishLocationId":"001gL0000000999"}"#,
      "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id"
    ),
    (
      #"{"PathOnClient":"a.txt","VersionData":"aGVsbG8=","ContentDocumentId":"069gL0000000999"}"#,
      "INVALID_CROSS_REFERENCE_KEY", "invalid cross reference id"
    ),
  ])
  func upload_thatIsRefused_leavesNothing(body: String, code: String, message: String) async throws {
    try await withOrg { server, client in
      let answer = try await client.json("POST", "\(rows)/ContentVersion", body)
      #expect(answer.status == 400 && answer.errorCode == code && answer.message == message)
      for object in ["ContentDocument", "ContentVersion"] {
        #expect(try server.query("SELECT COUNT() FROM \(object)", includeDeleted: true)["totalSize"] == 0)
      }
    }
  }

  @Test func forms_thatAreBroken_areRefusedByName() async throws {
    try await withOrg { _, client in
      let json = Array(#"{"PathOnClient":"a.txt"}"#.utf8)
      func post(_ type: String, _ body: String) async throws -> WireClient.Answer {
        try await client.send(
          "POST", "\(rows)/ContentVersion", headers: [("Content-Type", type)], body: Array(body.utf8))
      }
      let cases: [(String, String, String)] = [
        ("multipart/form-data", "x", "must have a boundary parameter"),
        ("multipart/form-data; boundary=b", "no such line", "never appears"),
        ("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\nabc", "closing boundary"),
        ("multipart/form-data; boundary=b", "--b\r\n\r\nabc\r\n--b--", "Content-Disposition"),
        ("multipart/form-data; boundary=b", "--b\r\nnonsense\r\n\r\nabc\r\n--b--", "no colon"),
        ("multipart/form-data; boundary=b", "--b--", "application/json"),
      ]
      for (type, body, hint) in cases {
        let answer = try await post(type, body)
        #expect(answer.status == 400 && answer.errorCode == "INVALID_MULTIPART_REQUEST", "\(body)")
        #expect(answer.message?.contains(hint) == true, "\(answer.message ?? "")")
      }
      var wrong = TestForm()
      wrong.add("entity", type: "application/json", json)
      wrong.add("Nothing", fileName: "a", type: "text/plain", [1])
      let answer = try await wrong.send(to: "\(rows)/ContentVersion", by: client)
      #expect(answer.errorCode == "INVALID_MULTIPART_REQUEST" && answer.message?.hasSuffix("VersionData") == true)
      var lines = TestForm(lineEnd: "\n")
      lines.add("entity", type: "application/json", json)
      lines.add("VersionData", fileName: "a", type: "text/plain", [1, 2])
      #expect(try await lines.send(to: "\(rows)/ContentVersion", by: client).status == 201)
    }
  }

  @Test func attachment_asForm_keepsItsTypeAndLength() async throws {
    try await withOrg { server, client in
      let account = try server.create("Account", fields: ["Name": "A"])
      var form = TestForm()
      form.add(
        "entity_attachment", type: "application/json",
        Array("{\"Name\":\"n.css\",\"ParentId\":\"\(account)\",\"ContentType\":\"text/css\"}".utf8))
      form.add("Body", fileName: "n.css", type: "text/css", Array("a{}".utf8))
      let id = try await form.send(to: "\(rows)/Attachment", by: client).json["id"]?.stringValue ?? ""
      let body = try await client.send("GET", "\(rows)/Attachment/\(id)/Body")
      #expect(body.text == "a{}" && body.headers["content-type"] == "text/css")
      var change = TestForm()
      change.add("entity", type: "application/json", Array("{}".utf8))
      change.add("Body", fileName: "n.css", type: "text/css", Array("b{ }".utf8))
      #expect(try await change.send("PATCH", to: "\(rows)/Attachment/\(id)", by: client).status == 204)
      #expect(try await client.records("SELECT BodyLength FROM Attachment")[0]["BodyLength"] == 4)
    }
  }

  // MARK: Shares and deletes

  @Test func share_twice_isADuplicate_andTheOwnersStays() async throws {
    try await withOrg { server, client in
      let group = try server.create("Group", fields: ["Name": "G"])
      _ = try await upload(#"{"PathOnClient":"a.txt"}"#, [1], by: client)
      let own = try await client.records(
        "SELECT Id, ContentDocumentId FROM ContentDocumentLink WHERE ShareType IN ('I') AND ContentDocumentId IN "
          + "(SELECT Id FROM ContentDocument)")[0]
      let document = own["ContentDocumentId"]?.stringValue ?? ""
      let body = "{\"ContentDocumentId\":\"\(document)\",\"LinkedEntityId\":\"\(group)\",\"ShareType\":\"V\"}"
      let first = try await client.json("POST", "\(rows)/ContentDocumentLink/", body)
      let second = try await client.json("POST", "\(rows)/ContentDocumentLink/", body)
      #expect(first.status == 201 && second.status == 400 && second.errorCode == "DUPLICATE_VALUE")
      #expect(second.message == "Document with ID: \(document) is already linked with the entity with ID: \(group)")
      let id = first.json["id"]?.stringValue ?? ""
      #expect(try await client.send("DELETE", "\(rows)/ContentDocumentLink/\(id)").status == 204)
      #expect(try await client.json("POST", "\(rows)/ContentDocumentLink/", body).status == 201)
      let kept = try await client.send("DELETE", "\(rows)/ContentDocumentLink/\(own["Id"]?.stringValue ?? "")")
      #expect(kept.status == 400 && kept.errorCode == "FIELD_INTEGRITY_EXCEPTION")
    }
  }

  @Test func delete_ofADocument_takesVersionsAndShares_andVersionsCannotBeDeleted() async throws {
    try await withOrg { server, client in
      let version = try await upload(#"{"PathOnClient":"a.txt"}"#, [1], by: client).json["id"]?.stringValue ?? ""
      let document = try await client.records("SELECT Id FROM ContentDocument")[0]["Id"]?.stringValue ?? ""
      let refused = try await client.send("DELETE", "\(rows)/ContentVersion/\(version)")
      #expect(refused.status == 400 && refused.errorCode == "INSUFFICIENT_ACCESS_OR_READONLY")
      let made = try await client.json("POST", "\(rows)/ContentDocument", #"{"Title":"x"}"#)
      #expect(made.status == 400 && made.errorCode == "INVALID_TYPE_FOR_OPERATION")
      #expect(try await client.send("DELETE", "\(rows)/ContentDocument/\(document)").status == 204)
      for target in [
        "\(rows)/ContentVersion/\(version)", "\(rows)/ContentVersion/\(version)/VersionData",
        "\(rows)/ContentDocument/\(document)",
      ] { #expect(try await client.send("GET", target).status == 404) }
      try server.undelete("ContentDocument", id: document)
      #expect(try await client.send("GET", "\(rows)/ContentVersion/\(version)/VersionData").body == [1])
    }
  }

  // MARK: Limits

  @Test func bodies_aboveTheLimitOfTheirResource_areRefused() async throws {
    try await withOrg { server, client in
      func announce(_ target: String, _ type: String, _ length: Int, _ method: String = "POST") async throws -> WireClient.Answer
      {
        let head =
          "\(method) \(target) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(client.token ?? "")\r\n"
          + "Content-Type: \(type)\r\nContent-Length: \(length)\r\n\r\n"
        return try await client.exchange(Array(head.utf8))
      }
      let mega = 1024 * 1024
      let cases: [(String, String, Int, String)] = [
        ("\(rows)/Account", "application/json", 17 * mega, "POST"),
        ("\(rows)/ContentVersion", "application/json", 53 * mega, "POST"),
        ("\(rows)/ContentVersion", "multipart/form-data; boundary=b", 102 * mega, "POST"),
        ("/services/data/v66.0/connect/files/users/me", "multipart/form-data; boundary=b", 102 * mega, "POST"),
        ("/services/data/v66.0/jobs/ingest/750/batches", "text/csv", 151 * mega, "PUT"),
      ]
      for (target, type, length, method) in cases {
        let answer = try await announce(target, type, length, method)
        #expect(answer.status == 413 && answer.errorCode == "REQUEST_ENTITY_TOO_LARGE", "\(target)")
      }
      // 20 MB would be too much for a row without files.
      let bytes = [UInt8](repeating: 7, count: 20 * mega)
      let made = try await upload(#"{"PathOnClient":"big.bin"}"#, bytes, by: client)
      let id = try #require(made.json["id"]?.stringValue, "\(made.text)")
      let data = try await client.send("GET", "\(rows)/ContentVersion/\(id)/VersionData")
      #expect(data.body == bytes && server.requests().last?.bytes == bytes.count)
    }
  }
}
