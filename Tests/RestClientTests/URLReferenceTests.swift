import TestSupport
import Testing

@testable import RestClient

struct URLReferenceTests {
  /// All examples of RFC 3986, sections 5.4.1 and 5.4.2.
  @Test(arguments: [
    ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y#s"), ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"),
    ("..", "http://a/b/"), ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
    ("../../g", "http://a/g"), ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
    ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
    ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
  ])
  func resolve_exampleOfTheRFC(reference: String, expected: String) {
    #expect(URLReference.resolve(reference, against: "http://a/b/c/d;p?q") == expected)
  }

  @Test(arguments: [
    ("http://a", "g", "http://a/g"), ("http://a?q", "g", "http://a/g"),
    ("http://a/b", "?f=a[b]&p=100%", "http://a/b?f=a[b]&p=100%"),
    ("http://a/b", "//h:1", "http://h:1"), ("http://a//b/../c", "d", "http://a//d"), ("http://a/b/", "c:d/e", "c:d/e"),
    ("http://a/b/", "./c:d/e", "http://a/b/c:d/e"),
  ])
  func resolve_otherBases(base: String, reference: String, expected: String) {
    #expect(URLReference.resolve(reference, against: base) == expected)
  }

  @Test func text_ofRandomReferences_isWhatWasRead() {
    var random = SeededGenerator(state: 3986)
    let pool = Array("ab:/?#[]@!$.%&=;é \\".unicodeScalars)
    for _ in 0..<20_000 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...20, using: &random) { text.append(pool.randomElement(using: &random)!) }
      #expect(URLReference(String(text)).text == String(text))
      _ = URLReference.resolve(String(text), against: "http://a/b/c/d;p?q")
      #expect(URLReference.repaired(String(text)).utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f })
    }
  }

  @Test func repaired_whatIsEncodedStays() {
    #expect(
      URLReference.repaired("/a b\u{1}%20ü\"<>\\^`{|}\u{7f}[1]%zz") == "/a%20b%01%20%C3%BC%22%3C%3E%5C%5E%60{|}%7F[1]%25zz")
  }

  @Test(arguments: [
    ("/orgs/acme/repos?page=2", "https://api.example.com/orgs/acme/repos?page=2"),
    ("?page=2", "https://api.example.com/orgs/acme/repos?page=2"), ("p3", "https://api.example.com/orgs/acme/p3"),
    ("//cdn.example.net/p2", "https://cdn.example.net/p2"), ("", "https://api.example.com/orgs/acme/repos?per_page=2"),
    ("https://a.example/x?ids=1,2,3", "https://a.example/x?ids=1,2,3"), ("../x/./y/../z", "https://api.example.com/orgs/x/z"),
    ("../../../../x", "https://api.example.com/x"), ("x:y", "x:y"), ("./x:y", "https://api.example.com/orgs/acme/x:y"),
    ("/a/b/..", "https://api.example.com/a/"), ("#frag", "https://api.example.com/orgs/acme/repos?per_page=2"),
  ])
  func resolve_locationsOfServers(reference: String, url: String) {
    let base = "https://api.example.com/orgs/acme/repos?per_page=2"
    #expect(URLReference(reference).resolved(against: base).withoutFragment.text == url)
  }

  @Test func repaired_encodesOnlyWhatMayNotStandThere() {
    #expect(URLReference.repaired("/a b?q=ü%20<x>&y=1|2") == "/a%20b?q=%C3%BC%20%3Cx%3E&y=1|2")
    #expect(URLReference.repaired("/a%2Fb?c=d&e") == "/a%2Fb?c=d&e")
    #expect(URLReference.repaired("/100%?a=%2&b=%2g%41%") == "/100%25?a=%252&b=%252g%41%25")
    #expect(URLReference.repaired("/100%25?a=%252") == "/100%25?a=%252")
  }
}
