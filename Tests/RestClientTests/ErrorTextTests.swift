import JSON
import Testing

@testable import RestClient

/// What a person reads of the body of an error, as servers of different makes write it.
@Suite struct ErrorTextTests {
  @Test(arguments: [
    (#"{"errors":["Title can't be blank","Pages is not a number"]}"#, "Title can't be blank; Pages is not a number"),
    (
      #"{"errors":{"title":["can't be blank","is too short"],"pages":["is not a number"]}}"#,
      "title: can't be blank; is too short; pages: is not a number"
    ),
    (#"{"errors":{"summary":"You must specify a summary."},"errorMessages":[]}"#, "summary: You must specify a summary."),
    (#"{"errors":"Nothing may be blank"}"#, "Nothing may be blank"),
    (#"{"errors":[{"title":"is taken"},{"msg":"is long"}]}"#, "is taken; is long"),
    (#"{"error":["a","b"]}"#, "a; b"),
    (#"{"error":{"title":["is taken"]}}"#, "title: is taken"),
    (#"{"detail":[{"loc":["body","title"],"msg":"field required","type":"value_error.missing"}]}"#, "field required"),
    (#"[{"message":"Not Found"}]"#, "Not Found"),
    (#"[{"errorCode":"X","message":"first"},{"errorCode":"Y","message":"second"}]"#, "first; second"),
    (#"{"title":["This field is required."]}"#, "title: This field is required."),
    (#"{"user":{"name":["is taken"]}}"#, #"{"user":{"name":["is taken"]}}"#),
    (#"{"errors":{"user":{"name":["is taken"]}}}"#, "user: name: is taken"),
    // Not a sentence: what is not known is shown as it is.
    (#"{"errors":[]}"#, #"{"errors":[]}"#), (#"{"errors":{"a":1}}"#, #"{"errors":{"a":1}}"#), ("[]", "[]"), ("{}", "{}"),
    (#"{"id":"7","name":"x"}"#, #"{"id":"7","name":"x"}"#), (#"{"errors":[[[[["deep"]]]]]}"#, #"{"errors":[[[[["deep"]]]]]}"#),
  ])
  func body_givesASentence(body: String, text: String) {
    let response = RestResponse(
      status: 422, headers: [("Content-Type", "application/json")], body: ResponseBody(Array(body.utf8)))
    #expect(ConnectionErrors.message(of: response, paths: ConnectionSettings.ErrorPaths()) == text)
  }
}
