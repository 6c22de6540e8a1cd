import JSON
import Testing

struct JSONLayoutTests {
  private static let object = """
    {
      "a": 1,
      "b": [
        1.50,
        {
          "c": "x"
        }
      ],
      "d": {},
      "e": []
    }
    """

  @Test(arguments: [
    (#"{"a":1,"b":[1.50,{"c":"x"}],"d":{},"e":[ ]}"#, object), (#"" { \" , [ \\""#, #"" { \" , [ \\""#),
    ("12345678901234567890", "12345678901234567890"), ("[ null,\n true]", "[\n  null,\n  true\n]"),
  ])
  func indented_keepsTheSpellingOfValues(text: String, expected: String) {
    #expect(String(decoding: JSONLayout.indented(Array(text.utf8)), as: UTF8.self) == expected)
  }
}
