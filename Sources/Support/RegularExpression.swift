import CPcre

/// A regular expression with Perl's syntax (PCRE2), as in queries of a Parse server.
///
/// Patterns and texts may come from anyone: both the pattern and the steps of a search are limited.
/// Not Sendable: one thread uses it at a time.
package final class RegularExpression {
  /// Why a pattern cannot be used, or a search cannot be completed.
  package struct Problem: Error, CustomStringConvertible {
    package let description: String
  }

  private let pattern: OpaquePointer

  /// - Parameter options: Letters: `i` ignores case, `m` lets `^` and `$` match at lines, `s` lets `.`
  ///   match line ends, `x` ignores white space in the pattern. Other letters have no effect.
  package init(_ pattern: String, options: String = "") throws(Problem) {
    let bits: [Character: Int] = ["i": CPCRE_CASELESS, "m": CPCRE_MULTILINE, "s": CPCRE_DOTALL, "x": CPCRE_EXTENDED]
    let flags = options.reduce(0) { $0 | (bits[$1] ?? 0) }
    var pattern = pattern, found: OpaquePointer?
    let message = Self.message { buffer in
      found = pattern.withUTF8 { text in
        text.withMemoryRebound(to: CChar.self) { text in
          cpcre_compile(
            text.baseAddress ?? UnsafePointer(buffer.baseAddress!), text.count, Int32(flags), buffer.baseAddress!, buffer.count)
        }
      }
    }
    guard let found else { throw Problem(description: message) }
    self.pattern = found
  }

  deinit { cpcre_free(pattern) }

  /// Returns whether the pattern occurs in the text.
  /// - Throws: ``Problem`` if the search takes too long.
  package func matches(_ text: String) throws(Problem) -> Bool {
    var text = text, result: Int32 = 0
    let message = Self.message { buffer in
      result = text.withUTF8 { text in
        text.withMemoryRebound(to: CChar.self) { text in
          cpcre_matches(
            pattern, text.baseAddress ?? UnsafePointer(buffer.baseAddress!), text.count, buffer.baseAddress!, buffer.count)
        }
      }
    }
    guard result >= 0 else { throw Problem(description: message) }
    return result == 1
  }

  /// Passes a buffer for an error message, and returns its text.
  private static func message(_ body: (UnsafeMutableBufferPointer<CChar>) -> Void) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 400) { buffer in
      buffer[0] = 0
      body(buffer)
      return String(cString: buffer.baseAddress!)
    }
  }
}
