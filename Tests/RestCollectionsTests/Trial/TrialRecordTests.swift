import JSON
import Testing

@testable import RestCollections

private func record(_ up: String, _ sample: String?) throws -> TrialRecord {
  let json = try JSONValue(parsing: #"{"type":"rest","connection":"c","url":"/i","modificationDateField":"at","up":\#(up)}"#)
  return try TrialRecord(json.objectValue ?? [:], sample: sample.map { try JSONValue(parsing: $0) }, text: "trial")
}

struct TrialRecordTests {
  private static let both =
    #"{"create":{"url":"/i","fields":["kind","title","n"]},"update":{"url":"/i/{id}","fields":["title"]}}"#

  @Test func row_isACopyWithATextOfItsOwn() throws {
    let trial = try record(Self.both, #"{"id":7,"at":"x","kind":"book","title":"Emma","n":3,"more":[1]}"#)
    #expect(trial.row == ["kind": "book", "title": "trial", "n": 3])
    #expect(trial.hasUpdate && !trial.hasDelete && trial.idPath == ["id"])
    #expect(
      trial.edited(["id": "9", "title": "trial", "kind": "book"], text: "other") == ["id": "9", "title": "other", "kind": "book"])
    #expect(trial.differences(from: ["id": "9", "title": "trial", "kind": "Book", "n": 3]) == ["kind"])
  }

  @Test func row_ofAnEmptyList_hasTheTextAlone() throws { #expect(try record(Self.both, nil).row == ["title": "trial"]) }

  @Test func row_ofNestedFields_isNested() throws {
    let trial = try record(
      #"{"create":{"url":"/i","fields":{"t":"fields.title","k":"fields.kind"}}}"#, #"{"fields":{"title":"a","kind":1}}"#)
    #expect(trial.row == ["fields": ["title": "trial", "kind": 1]] && !trial.hasUpdate)
  }

  @Test func id_insideAnObject_isNotCopied() throws {
    let json = try JSONValue(
      parsing:
        #"{"type":"rest","connection":"c","url":"/i","idField":"sys.id","up":{"create":{"url":"/i","fields":["sys.id","sys.kind","title"]}}}"#
    )
    let sample = try JSONValue(parsing: #"{"sys":{"id":"7","kind":"k"},"title":"a"}"#)
    let trial = try TrialRecord(json.objectValue ?? [:], sample: sample, text: "trial")
    #expect(trial.idPath == ["sys", "id"] && trial.row == ["sys": ["kind": "k"], "title": "trial"])
  }

  @Test func wholeItem_isCopiedWithoutIdAndDate() throws {
    let trial = try record(#"{"create":{"url":"/i","fields":"*"}}"#, #"{"id":7,"at":"x","name":"a","n":1}"#)
    #expect(trial.row == ["name": "trial", "n": 1])
  }

  @Test func fieldsWithoutText_cannotBeEdited() throws {
    let trial = try record(#"{"create":{"url":"/i","fields":["n"]}}"#, #"{"id":7,"n":1}"#)
    #expect(trial.row == ["n": 1] && trial.edited(["n": 1], text: "x") == nil)
  }

  @Test(arguments: [
    (#"{"read":{"url":"/i/{id}"}}"#, "the target has no 'up.create'"),
    (
      #"{"create":{"url":"/i","fields":{"a":"lua:make"}}}"#,
      "a field is computed by the Lua function 'make': try the upload from a script"
    ),
  ])
  func targets_withoutARecordToTry_saySo(up: String, message: String) throws {
    #expect { _ = try record(up, "{}") } throws: { "\($0)" == message }
  }
}
