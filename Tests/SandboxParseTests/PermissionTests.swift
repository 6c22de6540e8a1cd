import JSON
import SandboxParse
import Testing

/// Access lists, class permissions, `/schemas`, `/purge`, `/config`: sections 13 and 17.
@Suite struct PermissionTests {
  @Test func accessList_hidesAndProtects() async throws {
    try await withParse { _, client, _ in
      let closed = try await client.create("A", ["ACL": [:], "n": 1])
      let readable = try await client.create("A", ["ACL": ["*": ["read": true, "write": false]], "n": 2])
      #expect(try await client.get("/classes/A").column("objectId") == [readable])
      #expect(try await client.master.get("/classes/A").column("objectId") == [closed, readable])
      #expect(try await client.get("/classes/A/\(readable)").json["ACL"] == ["*": ["read": true]], "only true counts")
      for answer in [
        try await client.put("/classes/A/\(readable)", ["n": 3]), try await client.delete("/classes/A/\(readable)"),
        try await client.get("/classes/A/\(closed)"),
      ] {
        #expect(answer.status == 404 && answer.code == 101)
      }
    }
  }

  @Test func classPermissions_refuse() async throws {
    try await withParse { _, client, _ in
      let id = try await client.create("A", ["n": 1, "secret": "s"])
      func permit(_ permissions: JSONValue) async throws {
        let answer = try await client.master.put("/schemas/A", ["classLevelPermissions": permissions])
        #expect(answer.status == 200, "\(answer.text)")
      }
      let all: JSONValue = ["*": true]
      try await permit(["get": all, "update": all, "create": all])
      let find = try await client.get("/classes/A")
      #expect(find.status == 400 && find.code == 119 && find.error == "Permission denied for action find on class A.")
      #expect(try await client.get("/classes/A/\(id)").json["n"] == 1)
      #expect(try await client.find("A", where: ["objectId": .string(id)]).results.count == 1, "one id is a get")
      #expect(try await client.put("/classes/A/\(id)", ["n": 2]).status == 200)
      let column = try await client.put("/classes/A/\(id)", ["new": 2])
      #expect(column.code == 119 && column.error == "Permission denied for action addField on class A.")
      #expect(try await client.delete("/classes/A/\(id)").code == 119)
      #expect(try await client.master.get("/classes/A").results.count == 1)
      try await permit(["find": ["requiresAuthentication": true]])
      let anonymous = try await client.get("/classes/A")
      #expect(anonymous.status == 404 && anonymous.error == "Permission denied, user needs to be authenticated.")
      let user = try await client.post("/users", ["username": "u", "password": "p"])
      let own = client.signedIn(user.json["sessionToken"]?.stringValue)
      #expect(try await own.get("/classes/A").results.count == 1)
      try await permit(["find": all, "get": all, "protectedFields": ["*": ["secret"]]])
      #expect(try await client.get("/classes/A/\(id)").json["secret"] == nil)
      #expect(try await client.find("A", where: ["secret": "s"]).code == 119)
      _ = try await client.master.put("/classes/A/\(id)", ["owner": pointer("_User", user.id)])
      try await permit(["find": ["pointerFields": ["owner"]], "update": all])
      #expect(try await own.get("/classes/A").results.count == 1)
      #expect(try await client.get("/classes/A").results.isEmpty)
    }
  }

  @Test func installations_clientsMayNotFindOrDelete() async throws {
    try await withParse { _, client, _ in
      #expect(try await client.post("/installations", ["deviceToken": "t"]).code == 135)
      let made = try await client.post("/installations", ["deviceType": "ios", "installationId": "i"])
      #expect(made.status == 201)
      #expect(try await client.get("/installations").code == 119)
      #expect(try await client.delete("/installations/\(made.id)").code == 119)
      #expect(try await client.master.get("/installations").results.count == 1)
    }
  }

  // MARK: Schemas

  @Test func schemas_readMakeChangeDrop() async throws {
    try await withParse { _, client, _ in
      let master = client.master
      #expect(try await client.get("/schemas").text == #"{"error":"unauthorized: master key is required"}"#)
      #expect(try await master.get("/schemas").column("className") == ["_Role", "_User"])
      let made = try await master.post("/schemas/Book", ["className": "Book", "fields": ["title": ["type": "String"]]])
      #expect(made.json["fields"]?["title"] == ["type": "String"] && made.json["classLevelPermissions"]?["find"] == ["*": true])
      #expect(try await master.post("/schemas", ["className": "Book"]).code == 103)
      #expect(try await master.get("/schemas/None").error == "Class None does not exist.")
      #expect(try await master.put("/schemas/None", [:]).code == 103)
      #expect(try await master.post("/schemas/1x", ["fields": [:]]).code == 103)
      let changed = try await master.put(
        "/schemas/Book",
        ["fields": ["genre": ["type": "Pointer", "targetClass": "Genre"], "title": ["__op": "Delete"]]])
      #expect(changed.json["fields"]?["title"] == nil)
      #expect(changed.json["fields"]?["genre"] == ["type": "Pointer", "targetClass": "Genre"])
      #expect(try await client.post("/classes/Book", ["genre": 1]).code == 111)
      for n in 0..<3 { try await client.create("Book", ["n": .integer(Int64(n))]) }
      let full = try await master.delete("/schemas/Book")
      #expect(full.code == 255 && full.error == "Class Book is not empty, contains 3 objects, cannot drop schema.")
      #expect(try await client.delete("/purge/Book").status == 403)
      #expect(try await master.delete("/purge/Book").text == "{}")
      #expect(try await master.delete("/purge/None").text == "{}")
      let drop = try await master.post("/schemas/Book", ["_method": "DELETE", "_ClientVersion": "py"])
      #expect(drop.text == "{}", "\(drop.text)")
      #expect(try await master.get("/schemas/Book").code == 103)
    }
  }

  @Test func schemas_thatCannotBe_changeNothing() async throws {
    try await withParse { _, client, _ async throws in
      let master = client.master
      let point: JSONValue = ["type": "GeoPoint"]
      for (fields, code) in [
        (["a": ["type": "Thing"]], 111), (["a": ["type": "Pointer"]], 135), (["1a": ["type": "String"]], 105),
        (["objectId": ["type": "Number"]], 255), (["a": point, "b": point], 111), (["a": ["__op": "Delete"]], 255),
      ] as [(JSONValue, Int)] {
        #expect(try await master.post("/schemas/Book", ["fields": fields]).code == code, "\(fields.text)")
      }
      #expect(try await master.post("/schemas/Book", ["classLevelPermissions": ["fly": [:]]]).code == 107)
      #expect(try await master.get("/schemas/Book").code == 103)
    }
  }

  @Test func schemas_defaultsAndRequiredColumns_areKept() async throws {
    try await withParse { _, client, _ in
      let fields: JSONValue = [
        "label": ["type": "String", "required": true], "places": ["type": "Number", "defaultValue": 4, "required": true],
      ]
      let made = try await client.master.post("/schemas/Shelf", ["fields": fields])
      #expect(made.json["fields"]?["label"] == ["type": "String", "required": true])
      #expect(made.json["fields"]?["places"] == ["type": "Number", "required": true, "defaultValue": 4])
      let shelf = try await client.post("/classes/Shelf", ["label": "a"])
      #expect(shelf.status == 201 && shelf.json["places"] == 4 && shelf.json["label"] == nil, "the default is told")
      let path = "/classes/Shelf/\(shelf.id)"
      #expect(try await client.get(path).json["places"] == 4)
      #expect(try await client.post("/classes/Shelf", ["label": "b", "places": 9]).json["places"] == nil)
      for body in [[:], ["label": .null], ["label": ""], ["label": ["__op": "Delete"]]] as [JSONValue] {
        let refused = try await client.post("/classes/Shelf", body)
        #expect(refused.status == 400 && refused.code == 142 && refused.error == "label is required", "\(body.text)")
      }
      #expect(try await client.put(path, ["label": ["__op": "Delete"]]).code == 142)
      #expect(try await client.put(path, ["places": 5]).status == 200, "what is not named stays")
      let wrong = try await client.master.put("/schemas/Shelf", ["fields": ["n": ["type": "Number", "defaultValue": "x"]]])
      #expect(wrong.code == 111 && wrong.error == "schema mismatch for Shelf.n default value; expected Number but got String")
      let loose: JSONValue = ["label": ["type": "String", "required": false]]
      #expect(try await client.master.put("/schemas/Shelf", ["fields": loose]).json["fields"]?["label"] == ["type": "String"])
      #expect(try await client.post("/classes/Shelf", [:]).status == 201)
    }
  }

  @Test func schemas_defaultFile_isToldWithItsURL() async throws {
    try await withParse { _, client, _ in
      let file: JSONValue = ["__type": "File", "name": "cover.txt"]
      _ = try await client.master.post("/schemas/Shelf", ["fields": ["cover": ["type": "File", "defaultValue": file]]])
      let shelf = try await client.post("/classes/Shelf", [:])
      let url = shelf.json["cover"]?["url"]?.stringValue ?? ""
      #expect(url.hasSuffix("/cover.txt") && url.hasPrefix("http://"))
      #expect(try await client.get("/classes/Shelf/\(shelf.id)").json["cover"] == shelf.json["cover"])
    }
  }

  @Test func jobsAndAggregates_needTheMasterKey() async throws {
    try await withParse { _, client, _ async throws in
      for answer in [
        try await client.post("/jobs/nightly", [:]), try await client.get("/jobs"), try await client.get("/aggregate/A"),
      ] {
        #expect(answer.status == 403 && answer.text == #"{"error":"unauthorized: master key is required"}"#)
      }
    }
  }

  @Test func configInfoAndFunctions() async throws {
    try await withParse { _, client, _ in
      #expect(try await client.get("/config").text == #"{"params":{}}"#)
      #expect(try await client.put("/config", ["params": ["a": 1]]).status == 403)
      let change: JSONValue = ["params": ["a": 1, "b": 2], "masterKeyOnly": ["b": true]]
      #expect(try await client.master.put("/config", change).text == #"{"result":true}"#)
      #expect(try await client.get("/config").json == ["params": ["a": 1], "masterKeyOnly": [:]])
      #expect(try await client.master.get("/config").json["params"] == ["a": 1, "b": 2])
      #expect(try await client.get("/serverInfo").status == 403)
      #expect(try await client.master.get("/serverInfo").json["parseServerVersion"] == "7.4.0")
      let function = try await client.post("/functions/x", [:])
      #expect(function.status == 400 && function.text == #"{"code":141,"error":"Invalid function: \"x\""}"#)
    }
  }

  // MARK: Files

  @Test func files_uploadReadDelete() async throws {
    try await withParse { server, client, _ in
      let keys = [("X-Parse-Application-Id", client.keys.applicationId), ("X-Parse-REST-API-Key", client.keys.restAPIKey)]
      func upload(_ name: String, _ type: String?, _ bytes: [UInt8] = [1, 2, 255]) async throws -> ParseClient.Answer {
        try await client.send("POST", "/parse/files/" + name, keys + (type.map { [("Content-Type", $0)] } ?? []), bytes)
      }
      let made = try await upload("photo.jpg", "image/jpeg")
      let name = try #require(made.json["name"]?.stringValue)
      #expect(made.status == 201 && name.hasSuffix("_photo.jpg") && name.utf8.count == 42)
      #expect(made.json["url"] == .string("\(server.url)/parse/files/library/\(name)"))
      let read = try await client.send("GET", "/parse/files/library/\(name)")
      #expect(read.body == [1, 2, 255] && read.header("content-type") == "image/jpeg")
      let missing = try await client.send("GET", "/parse/files/library/none")
      #expect(missing.status == 404 && missing.text == "File not found.")
      let other = try await client.send("GET", "/parse/files/else/\(name)")
      #expect(other.status == 403 && other.code == 119)
      #expect(try await upload("plain", "text/plain").json["name"]?.stringValue?.hasSuffix("_plain.txt") == true)
      #expect(try await upload("-x.txt", "text/plain").code == 122)
      #expect(try await upload(String(repeating: "a", count: 129), "text/plain").code == 122)
      let empty = try await upload("a.txt", "text/plain", [])
      #expect(empty.code == 130 && empty.error == "Invalid file upload.")
      let page = try await upload("a.html", "text/html")
      #expect(page.code == 130 && page.error == "File upload of extension html is disabled.")
      #expect(try await client.delete("/files/\(name)").text == #"{"error":"unauthorized: master key is required"}"#)
      let deleted = try await client.master.delete("/files/\(name)")
      #expect(deleted.status == 200 && deleted.body.isEmpty)
      server.settings.enableForPublic = false
      #expect(try await upload("a.txt", "text/plain").code == 130)
    }
  }

  @Test func files_asBase64_areStoredDecodedWithTheirType() async throws {
    try await withParse { server, client, _ in
      let more: JSONValue = ["metadata": [:], "tags": [:]]
      let made = try await client.sdk(
        "/files/pixel.bin", ["base64": "AAH/gA==", "_ContentType": "image/x-pixel", "fileData": more])
      #expect(made.status == 201, "\(made.text)")
      let path = try #require(made.json["url"]?.stringValue?.dropFirst(server.url.count))
      let read = try await client.send("GET", String(path))
      #expect(read.body == [0, 1, 255, 128] && read.header("content-type") == "image/x-pixel")
      let keys = [("X-Parse-Application-Id", client.keys.applicationId), ("X-Parse-REST-API-Key", client.keys.restAPIKey)]
      let text = Array(#"{"base64":"aGk="}"#.utf8)
      let plain = try await client.send("POST", "/parse/files/a.json", keys + [("Content-Type", "application/json")], text)
      let stored = try #require(plain.json["url"]?.stringValue?.dropFirst(server.url.count))
      #expect(try await client.send("GET", String(stored)).body == text, "with keys in the headers the body is the file")
    }
  }
}
