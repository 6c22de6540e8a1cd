import JSON
import Testing
import Tureen

/// Tests the escaping of untrusted text for terminals.
@Suite struct TerminalTextTests {
  @Test(arguments: [
    ("plain text, with ä and 漢字\n\tand lines", "plain text, with ä and 漢字\n\tand lines"),
    ("\u{1b}[2Jgone", "\\u{1b}[2Jgone"), ("a\rb\0c\u{7f}", "a\\u{d}b\\u{0}c\\u{7f}"), ("\u{9b}31m\u{85}", "\\u{9b}31m\\u{85}"),
    ("abc\u{202e}txt.exe\u{2066}\u{200f}\u{61c}", "abc\\u{202e}txt.exe\\u{2066}\\u{200f}\\u{61c}"),
  ])
  func escaped_commandsOfATerminal_areShown(text: String, shown: String) {
    #expect(TerminalText.escaped(text) == shown)
  }

  @Test func escapedJSON_readsAsTheSameValue() throws {
    let value: JSONValue = ["\u{9b}31m": "a\u{202e}b\u{1b}ä"]
    let text = TerminalText.escapedJSON(value.text)
    #expect(try JSONValue(parsing: text) == value)
    #expect(!text.unicodeScalars.contains { [0x9B, 0x202E, 0x1B].contains($0.value) })
  }

  @Test func line_ofManyLines_isOne() { #expect(TerminalText.line("a\nb\u{1b}\r\n") == #"a\nb\u{1b}\u{d}\n"#) }
}
