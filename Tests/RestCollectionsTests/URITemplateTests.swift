import TestSupport
import Testing

@testable import RestCollections

struct URITemplateTests {
  private static let values = [
    "org": "acme", "full": "a/b c", "plus": "1+2", "empty": "", "ref": "/api/v1/z?x=1%20é", "q": "a&b=ü",
    "raw": "/in%20a[1]?b={c}|d&e=5%",
  ]

  private func expand(_ text: String, _ place: URITemplate.Place = .url) throws(URITemplate.Problem) -> String {
    try URITemplate(text, for: place).expanded { Self.values[$0] }
  }

  @Test(arguments: [
    ("/orgs/{org}/repos", "/orgs/acme/repos"), ("/r/{full}", "/r/a%2Fb%20c"), ("/r/{+full}", "/r/a/b%20c"),
    ("/s{?q,plus}", "/s?q=a%26b%3D%C3%BC&plus=1%2B2"), ("/s?x=1{&org}", "/s?x=1&org=acme"), ("/s{?empty}", "/s?empty="),
    ("{+ref}", "/api/v1/z?x=1%20%C3%A9"),
    ("{+raw}", "/in%20a[1]?b={c}|d&e=5%25"), ("/a|b[1]?c=5%&d=%41", "/a|b[1]?c=5%25&d=%41"), ("/a b/ü", "/a%20b/%C3%BC"),
    ("/{plus}", "/1%2B2"), ("/x%20y", "/x%20y"), ("", ""),
  ])
  func expanded_inAURL(template: String, expected: String) throws { #expect(try expand(template) == expected) }

  @Test(arguments: [("Bearer {full}", "Bearer a/b c"), ("{+q}", "a&b=ü"), ("{org}", "acme")])
  func expanded_inATextNothingIsEncoded(template: String, expected: String) throws {
    #expect(try expand(template, .text) == expected)
  }

  @Test func expanded_missingValue_isAnErrorNamingIt() {
    #expect(throws: URITemplate.Problem("needs a value for 'nobody', but there is none")) { try expand("/{org}/{nobody}") }
    #expect(throws: URITemplate.Problem.self) { try expand("/x{?org,nobody}") }
  }

  @Test(arguments: [
    ("/{org", "has a '{' without '}'"), ("/org}", "has a '}' without '{'"), ("/{a{b}}", "has a '{' without '}'"),
    ("/{}", "has '{}', where a name is empty"), ("/{a,b}", "has '{a,b}': several values are for {?a,b} only"),
    ("/{#a}", "has '{#a}': only {x}, {+x}, {?a,b} and {&a,b} are known"), ("/{a*}", "has '{a*}': modifiers are not known"),
    ("/{a:3}", "has '{a:3}': modifiers are not known"), ("/{a..b}", "has '{a..b}', whose path has an empty step"),
    ("/{?a,}", "has '{?a,}', where a name is empty"),
  ])
  func template_wrong_isRefused(text: String, complaint: String) {
    #expect(throws: URITemplate.Problem(complaint)) { try URITemplate(text, for: .url) }
  }

  @Test func template_queryInAHeader_isRefused() {
    #expect(throws: URITemplate.Problem("has '{?a}', which belongs in a URL")) { try URITemplate("x{?a}", for: .text) }
  }

  @Test(arguments: [
    ("https://h/api/v1", "/zones", "https://h/api/v1/zones"), ("https://h/api/v1/", "/zones", "https://h/api/v1/zones"),
    ("https://h/api/v1", "zones/", "https://h/api/v1/zones/"), ("https://h", "?x=1", "https://h?x=1"),
    ("https://h/a", "", "https://h/a"), ("https://h/a", "http://other/b", "http://other/b"),
    ("https://h/a", "/db:x", "https://h/a/db:x"),
  ])
  func append_isNotResolution(base: String, relative: String, expected: String) {
    #expect(TargetURL.append(relative, to: base) == expected)
  }

  @Test func expand_wholeReference_resolvesAgainstWhereItWasReadFrom() throws {
    let values = TemplateValues(
      vars: ["org": "acme"], record: Array(#" {"url":"/api/v1/zones/x.","n":12,"o":{"p":true},"z":null}"#.utf8))
    func expand(_ text: String) throws -> String {
      try TargetURL.expand(
        try URITemplate(text, for: .url), values, base: "https://h/api/v1", source: "https://in.example/api/v1/zones?page=2")
    }
    #expect(try expand("{+url}") == "https://in.example/api/v1/zones/x.")
    #expect(try expand("/{org}/{n}/{o.p}") == "https://h/api/v1/acme/12/true")
    #expect(throws: URITemplate.Problem.self) { try expand("/{z}") }
    #expect(throws: URITemplate.Problem.self) { try expand("/{o}") }
  }

  @Test func template_randomText_neverCrashes() {
    var random = SeededGenerator(state: 6570)
    let pool = Array("{}+?&,a.b[]:3*/ é%".unicodeScalars)
    for _ in 0..<20_000 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...16, using: &random) { text.append(pool.randomElement(using: &random)!) }
      guard let template = try? URITemplate(String(text), for: .url) else { continue }
      let url = try? template.expanded { _ in "v é/" }
      #expect(url?.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } ?? false, "\(String(text))")
    }
  }
}
