import JSON
import Testing

@testable import Parse

struct WriteAnswerTests {
  private func merged(_ answer: JSONObject, into record: JSONObject, sent: JSONObject = [:]) -> JSONObject {
    WriteAnswer(answer).merged(into: record, sent: sent)
  }

  @Test func create_setsBothStamps() {
    let at: JSONValue = "2024-05-01T10:20:30.123Z"
    let merged = merged(["objectId": "x1", "createdAt": at], into: ["objectId": "local_1", "title": "Dune"])
    #expect(merged == ["objectId": "x1", "title": "Dune", "createdAt": at, "updatedAt": at])
  }

  @Test func echoedFields_areTakenAndUnsetOnesRemoved() {
    let answer: JSONObject = ["updatedAt": "t2", "count": 5, "note": ["__op": "Delete"]]
    #expect(
      merged(answer, into: ["count": 4, "note": "x", "createdAt": "t1"]) == ["count": 5, "createdAt": "t1", "updatedAt": "t2"])
  }

  @Test func dottedOperation_losesNoOtherPart() {
    let record: JSONObject = ["o": ["a": 7, "b": ["c": 1, "d": 2]]]
    let sent: JSONObject = ["o.a": FieldOperation.increment(2).json, "o.b.c": FieldOperation.delete.json]
    let answer: JSONObject = ["o": ["a": 9, "b": ["c": ["__op": "Delete"]]], "updatedAt": "t"]
    #expect(merged(answer, into: record, sent: sent)["o"] == ["a": 9, "b": ["d": 2]])
    #expect(merged(["o": ["a": 9]], into: record, sent: ["o": ["a": 9]])["o"] == ["a": 9], "a whole column is replaced")
  }

  @Test func tokenAndPassword_neverReachTheRecord() {
    let answer = WriteAnswer(["updatedAt": "t", "sessionToken": "r:new"])
    #expect(answer.sessionToken == "r:new")
    let merged = answer.merged(
      into: ["username": "u", "password": "p", "sessionToken": "r:old"], sent: ["password": "p"])
    #expect(merged == ["username": "u", "updatedAt": "t"])
  }
}

struct ServerRefusalTests {
  @Test(
    arguments: [
      (#"{"code":101,"error":"Object not found."}"#, 404, 101, "Object not found."),
      (#"{"error":"unauthorized"}"#, 403, nil, "unauthorized"),
      (#"{"code":1,"message":"Internal server error."}"#, 500, 1, "Internal server error."),
      (#"{"code":1,"error":{"message":"deep"}}"#, 500, 1, "deep"),
      (#"{"code":141,"error":["a",1]}"#, 400, 141, #"["a",1]"#),
      ("<html>502</html>", 502, nil, "HTTP 502 without an error text"), ("", 503, nil, "HTTP 503 without an error text"),
      ("{}", 413, nil, "HTTP 413 without an error text"), ("[1]", 400, nil, "HTTP 400 without an error text"),
    ] as [(String, Int, Int?, String)])
  func body_ofEachShape(body: String, status: Int, code: Int?, message: String) {
    #expect(ServerRefusal(status: status, body: Array(body.utf8)) == ServerRefusal(status: status, code: code, message: message))
  }

  @Test func batchItem_withoutACode_keepsItsText() {
    let refusal = ServerRefusal(batchItem: ["error": "Cannot read properties"])
    #expect(refusal == ServerRefusal(status: nil, code: nil, message: "Cannot read properties"))
    #expect(refusal.action(for: .update) == .retry(attempts: 3))
    #expect(ServerRefusal(batchItem: ["code": 137, "error": "dup"]).code == 137)
  }

  @Test func kept_withoutACode_hasNone() throws {
    let coded = ServerRefusal(status: 400, code: 142, message: "no").lastError(at: 5)
    #expect(coded == #"{"code":142,"error":"no","status":400,"at":5}"#)
    #expect(ServerRefusal(status: nil, code: nil, message: "no").lastError(at: 5) == #"{"error":"no","at":5}"#)
  }
}

struct RefusalActionTests {
  private func action(_ code: Int, _ kind: RequestKind, _ message: String = "") -> RefusalAction {
    ServerRefusal(status: 400, code: code, message: message).action(for: kind)
  }

  @Test(
    arguments: [
      ([1], .retry(attempts: 3)), ([2, 4, 100, 124, 251], .retry(attempts: 5)),
      ([102, 105, 106, 107, 108, 121, 111, 116, 119, 123, 125, 135, 141, 142, 200, 201, 202, 203, 204, 205, 252, 253], .flag),
      ([103, 104], .stop), ([136], .flagAndDropField), ([137], .duplicate), ([140, 155], .pause),
      ([122, 129, 130, 153], .flagFile), ([159], .verify), ([206, 209], .signIn), ([777, -5], .flag),
    ] as [([Int], RefusalAction)])
  func update_eachCode(codes: [Int], expected: RefusalAction) {
    for code in codes { #expect(action(code, .update) == expected, "\(code)") }
  }

  @Test func everyCode_ofAQuery_neverMeansAnEmptyClass() {
    for code in ServerCode.allCases {
      #expect(action(code.rawValue, .query) != .done && action(code.rawValue, .query) != .flag, "\(code)")
    }
    #expect(action(101, .query) == .noPermission && action(119, .query) == .noPermission && action(102, .query) == .stop)
  }

  @Test func notFound_dependsOnTheRequest() {
    #expect(action(101, .delete) == .done && action(101, .update) == .readBack && action(101, .read) == .readBack)
    #expect(action(101, .logIn) == .signIn)
    #expect(action(101, .update, "Permission denied, user needs to be authenticated.") == .noPermission)
  }

  @Test(
    arguments: [
      (403, "unauthorized", .checkKeys), (403, "unauthorized: master key is required", .stop), (429, "", .retry(attempts: 5)),
      (502, "", .retry(attempts: 5)), (500, "", .retry(attempts: 3)), (413, "request entity too large", .flag), (404, "", .stop),
      (400, "Unexpected token", .stop),
    ] as [(Int, String, RefusalAction)])
  func withoutACode_theStatusDecides(status: Int, message: String, expected: RefusalAction) {
    #expect(ServerRefusal(status: status, code: nil, message: message).action(for: .update) == expected)
  }

  @Test func complaintsAboutSize_makeBatchesSmaller() {
    #expect(ServerRefusal(status: 413, code: nil, message: "request entity too large").refusesSize)
    #expect(ServerRefusal(status: 400, code: 102, message: "Batch request exceeds the limit of 20.").refusesSize)
    #expect(!ServerRefusal(status: 400, code: 107, message: "requests must be an array").refusesSize)
    #expect(!ServerRefusal(status: 429, code: 100, message: "Batch limit exceeded").refusesSize)
    #expect(!ServerRefusal(status: 500, code: 1, message: "batch too large").refusesSize)
  }

  @Test func backOff_doublesUpToAMinuteAndHeedsTheServer() {
    func wait(_ attempt: Int, _ random: Double, asked: Double? = nil) -> Double? {
      BackOff.seconds(afterAttempt: attempt, of: 5, random: random, asked: asked)
    }
    #expect(wait(1, 0) == 1 && wait(3, 0) == 4 && wait(1, 0, asked: 2) == 2 && wait(4, 0, asked: 2) == 8)
    #expect(BackOff.seconds(afterAttempt: 9, of: 20, random: 0.5, asked: nil) == 45)
    #expect(wait(5, 0) == nil)
  }
}
