import TestSupport
import Testing

@testable import RestCollections

struct LinkHeaderTests {
  private static let base = "https://api.example.com/orgs/acme/repos?per_page=2"

  @Test func target_isAsGiven() {
    #expect(next("</in%20a[1]?b={c}|d&e=5%>; rel=next") == "https://api.example.com/in%20a[1]?b={c}|d&e=5%25")
  }

  private func next(_ lines: String...) -> String? { LinkHeader(lines).target(of: "next", responseURL: Self.base) }

  /// The cases of the reference by number; B and A stand for origins.
  @Test(
    arguments: [
      (1, ["<B/o/6/repos?page=2>; rel=\"next\", <B/o/6/repos?page=9>; rel=\"last\""], "B/o/6/repos?page=2"),
      (2, ["<B/x?page=1>; rel=\"prev\", <B/x?page=3>; rel=\"next\""], "B/x?page=3"),
      (3, ["</orgs/acme/repos?page=2>; rel=next"], "B/orgs/acme/repos?page=2"),
      (4, ["<?page=2>; rel=\"next\""], "B/orgs/acme/repos?page=2"),
      (5, ["<p3>; rel=next; title*=UTF-8''na%C3%AFve"], "B/orgs/acme/p3"),
      (6, ["<//cdn.example.net/p2>; rel=\"next\""], "https://cdn.example.net/p2"),
      (7, ["<A/x?ids=1,2,3>; rel=\"next\""], "A/x?ids=1,2,3"),
      (8, ["<A/x>; title=\"a, b; rel=\\\"next\\\"\"; rel=\"last\""], nil),
      (9, ["<A/x>; rel=\"last next\""], "A/x"), (10, ["<A/x>; REL=\"NEXT\""], "A/x"),
      (11, ["<A/x>; rel=\"last\"; rel=\"next\""], nil), (12, ["<A/x> ; rel = \"next\" ; foo"], "A/x"),
      (13, ["<A/1>; rel=\"first\"", "<A/2>; rel=\"next\""], "A/2"), (14, [", ,<A/2>;rel=next,"], "A/2"),
      (15, ["<A/2>; rel=\"next\"; anchor=\"/other\""], nil), (16, ["A/2; rel=\"next\""], nil),
      (16, ["<A/2; rel=\"next\""], nil), (16, [""], nil), (17, ["<A/2>; rel=next-page"], nil), (17, ["<A/2>; rel='next'"], nil),
      (18, ["<>; rel=\"next\""], "B/orgs/acme/repos?per_page=2"),
    ] as [(Int, [String], String?)])
  func next_vectorOfTheReference(number: Int, lines: [String], expected: String?) {
    func full(_ text: String) -> String {
      text.split(separator: "<", omittingEmptySubsequences: false).map { part in
        part.hasPrefix("B/")
          ? "https://api.example.com" + part.dropFirst()
          : part.hasPrefix("A/") ? "https://a.example" + part.dropFirst() : String(part)
      }.joined(separator: "<")
    }
    #expect(LinkHeader(lines.map(full)).target(of: "next", responseURL: Self.base) == expected.map(full), "\(number)")
  }

  @Test func links_damagedHeader_keepsWhatStandsBefore() {
    let header = LinkHeader(["</a>; rel=next, b; rel=last"])
    #expect(header.links == [WebLink(target: "/a", relations: ["next"], anchor: nil)])
    #expect(header.isDamaged)
    #expect(!LinkHeader(["</a>; rel=next", "</b>; rel=last"]).isDamaged)
  }

  @Test func next_anchorOfTheResponseItself_counts() {
    #expect(next("<?page=2>; rel=next; anchor=\"\"") == "https://api.example.com/orgs/acme/repos?page=2")
    #expect(next("<?page=2>; anchor=\"/orgs/acme/repos?per_page=2\"; rel=next") != nil)
    #expect(next("<?page=2>; anchor=\"#part\"; rel=next") == nil)
  }

  @Test func next_rawBlanksAndLetters_areEncoded_fragmentDropped() {
    #expect(next("</a b/ü?q=x%20y#top>; rel=next") == "https://api.example.com/a%20b/%C3%BC?q=x%20y")
  }

  @Test(arguments: [
    ("<a>; rel=\"next", ["next"]), ("<a>;;rel=next", ["next"]), ("<a>; rel=next ;x=\"1,2\"", ["next"]),
    ("<a>; title=\"\\\"\"; rel=\"a\tb\"", ["a", "b"]), ("<a>; rel=HTTP://X/Rel", ["http://x/rel"]),
  ])
  func links_oddParameters_areReadAsFarAsTheyGo(text: String, relations: [String]) {
    #expect(LinkHeader([text]).links.map(\.relations) == [relations])
  }

  @Test func links_randomBytes_neverCrashAndStayBounded() {
    var random = SeededGenerator(state: 31_415)
    let pool = Array("<>;,=\"\\ \trelnextanchor*'/?#%".utf8) + [0xc3, 0xa9, 0xff, 0]
    for _ in 0..<20_000 {
      let lines = (0..<Int.random(in: 0...2, using: &random)).map { _ in
        String(
          decoding: (0..<Int.random(in: 0...40, using: &random)).map { _ in pool.randomElement(using: &random)! }, as: UTF8.self)
      }
      let header = LinkHeader(lines)
      #expect(header.links.count <= lines.joined().utf8.count / 2 + 1)
      _ = header.target(of: "next", responseURL: Self.base)
    }
  }
}

struct URLQueryTests {
  @Test func setting_keepsTheOtherPairsAsSpelled() {
    let url = "http://h/p?a=1&q=%7e+x&page=1&b&page=9"
    #expect(URLQuery.setting("page", to: "2 +", in: url) == "http://h/p?a=1&q=%7e+x&page=2%20%2B&b")
    #expect(URLQuery.setting("n", to: "é", in: "http://h/p") == "http://h/p?n=%C3%A9")
    #expect(URLQuery.setting("page[n]", to: "2", in: "http://h/p?page%5Bn%5D=1") == "http://h/p?page%5Bn%5D=2")
  }

  @Test func adding_emptyQuery_hasNoLooseMark() {
    #expect(URLQuery.adding([("a", "1"), ("b", "x&y")], to: "http://h/p?") == "http://h/p?a=1&b=x%26y")
    #expect(URLQuery.adding([("a", "1")], to: "http://h/p?z=1") == "http://h/p?z=1&a=1")
    #expect(URLQuery.adding([], to: "http://h/p") == "http://h/p")
  }

  @Test func changing_byNameAndValue() {
    let url = "http://h/p?api_key=s&a=1&api_key=t"
    #expect(URLQuery.changing(url) { $1 == "api_key" && $2 == "s" ? nil : $0 } == "http://h/p?a=1&api_key=t")
    #expect(URLQuery.changing("http://h/p?a=1") { _, _, _ in nil } == "http://h/p")
    #expect(
      URLQuery.changing("http://h/p?b&%61=%31") { raw, name, value in name == "a" && value == "1" ? "x" : raw }
        == "http://h/p?b&x")
  }

  @Test func decoded_damagedEscapes_stay() {
    #expect(URLQuery.decoded("%41%4") == "A%4" && URLQuery.decoded("%zz%") == "%zz%" && URLQuery.decoded("+") == "+")
  }
}
