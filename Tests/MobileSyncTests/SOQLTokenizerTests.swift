import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows D13 and D15 of the acceptance list.
@Suite struct SOQLTokenizerTests {
  @Test(arguments: [
    ("hello world: my name is   James    Bond", "hello# #world:# #my# #name# #is#   #James#    #Bond"),
    (
      "hello something  by world order  by abc group    by def order",
      "hello# #something#  #by# #world# #order by# #abc# #group by# #def# #order"
    ),
    (#"hello 'my world\''"#, #"hello# #'my world\''"#),
    (#"hello 'ends in a backslash \\' limit"#, #"hello# #'ends in a backslash \\'# #limit"#),
    ("hello (a or (b and c) or d),(e or f)", "hello# #(a or (b and c) or d)#,#(e or f)"),
    ("hello 'oh oh ( ) ( )))'", "hello# #'oh oh ( ) ( )))'"),
    ("a(b')'c)d", "a#(b')'c)#d"),
    ("SELECT Id\nFROM\tAccount", "SELECT# #Id#\n#FROM#\t#Account"),
    ("ORDER\n  BY x", "ORDER BY# #x"),
    ("a 'b", "a# #'b"),
    ("(a (b", "(a (b"),
    (")a", ")#a"),
    ("", ""),
  ])
  func tokens_table(text: String, expected: String) {
    #expect(SOQLTokenizer.tokens(text).joined(separator: "#") == expected)
  }

  @Test func tokens_joined_giveTheTextBack() {
    let text = "SELECT Id,\r\n\tName FROM A WHERE x IN ('a b', 'c\\'d') AND (y = 1)  LIMIT 3 "
    #expect(SOQLTokenizer.tokens(text).joined() == text)
  }
}
