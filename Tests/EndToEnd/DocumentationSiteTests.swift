import Foundation
import JSON
import Testing

/// Tests that `scripts/dev/site` makes a site whose links work, even if a browser opens it from files.
@Suite(.timeLimit(.minutes(60)), .enabled(if: FileManager.default.fileExists(atPath: "/usr/bin/cmark-gfm")))
struct DocumentationSiteTests {
  private static let script = Built.package.path + "/scripts/dev/site"

  private struct Page {
    let path: String
    let text: String
    let anchors: Set<String>
    let links: [String]
  }

  private func make(_ place: Workplace) async throws -> [Page] {
    let output = place.path + "/site", ended = try await place.run(Self.script, [output])
    #expect(ended.status == 0, "\(ended)")
    return try FileManager.default.subpathsOfDirectory(atPath: output).filter { $0.hasSuffix(".html") }.sorted().map { path in
      let text = try String(contentsOfFile: output + "/" + path, encoding: .utf8)
      let links = text.matches(of: #/(?:href|src)="([^"]*)"/#).map { String($0.output.1) }
      return Page(
        path: path, text: text, anchors: Set(text.matches(of: #/ id="([^"]*)"/#).map { String($0.output.1) }), links: links)
    }
  }

  /// Returns the target file of a page's link.
  private func file(_ link: Substring, from page: Page) -> String {
    guard !link.isEmpty else { return page.path }
    return URL(fileURLWithPath: "/" + page.path).deletingLastPathComponent().appendingPathComponent(String(link)).standardized
      .path
      .dropFirst().description
  }

  @Test func site_everyLink_leadsSomewhere() async throws {
    let place = try Workplace(), pages = try await make(place)
    let anchors = Dictionary(uniqueKeysWithValues: pages.map { ($0.path, $0.anchors) })
    #expect(pages.count > 40)
    var count = 0
    for page in pages {
      for link in page.links where !link.contains(":") {
        count += 1
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let file = file(parts[0], from: page)
        #expect(FileManager.default.fileExists(atPath: place.path + "/site/" + file), "\(page.path): \(link)")
        guard parts.count == 2, let anchors = anchors[file] else { continue }
        #expect(anchors.contains(parts[1].removingPercentEncoding ?? ""), "\(page.path): \(link)")
      }
      // Pages load nothing from other sites.
      for source in page.text.matches(of: #/ src="([^"]*)"/#) { #expect(!source.output.1.contains("//"), "\(page.path)") }
    }
    #expect(count > 1000)
  }

  @Test func site_everyPage_isInTheNavigationAndTheSearch() async throws {
    let place = try Workplace(), pages = try await make(place)
    let script = try String(contentsOfFile: place.path + "/site/search-index.js", encoding: .utf8)
    let start = try #require(script.range(of: "window.searchIndex=")?.upperBound)
    let entries = try JSONValue(parsing: String(script[start...].dropLast(2))).arrayValue ?? []
    let found = Set(entries.compactMap { $0.arrayValue?.first?.stringValue?.prefix { $0 != "#" } }.map(String.init))
    #expect(found == Set(pages.map(\.path)))
    // A search for a section's words finds the section.
    #expect(
      entries.contains { entry in
        let entry = entry.arrayValue ?? []
        return entry[0].stringValue?.hasPrefix("guide/syncing-well.html#") == true
          && entry[3].stringValue?.contains("conflict") == true
      })
    // Words that people look for, whatever the page calls it.
    for words in [["backup"], ["upgrade"], ["if-match"], ["dry", "run"], ["null"]] {
      let isFound = entries.contains { entry in
        let texts = (entry.arrayValue ?? []).compactMap(\.stringValue)
        let text = texts.dropFirst().joined(separator: " ").lowercased()
        return texts.first?.hasPrefix("guide/") == true && words.allSatisfy(text.contains)
      }
      #expect(isFound, "\(words)")
    }
    let listed = Set(try #require(pages.first { $0.path == "index.html" }).links)
    for page in pages { #expect(listed.contains(page.path), "the navigation does not list \(page.path)") }
  }

  @Test func site_everyDocument_isAPage() async throws {
    let place = try Workplace(), pages = Set(try await make(place).map(\.path))
    for page in try MarkdownPage.guide() where page.path.hasPrefix(MarkdownPage.folder) {
      let name = page.path.dropFirst(MarkdownPage.folder.count + 1).dropLast(3)
      #expect(pages.contains("guide/\(name == "README" ? "index" : name).html"), "guide/README.md does not list \(name).md")
    }
  }

  @Test func site_folderOfSomethingElse_isRefused() async throws {
    let place = try Workplace()
    try place.write("mine", to: "notes.txt")
    let ended = try await place.run(Self.script, [place.path])
    #expect(ended.status == 1 && ended.errors.contains("holds something else"))
    #expect(FileManager.default.fileExists(atPath: place.path + "/notes.txt"))
  }
}
