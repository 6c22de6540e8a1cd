import JSON
import Testing

@testable import Parse

/// How a scenario syncs books, their ISBNs and their authors.
struct ParseScenarioKind: Sendable, CustomTestStringConvertible {
  /// How a create is recognized if its response is lost.
  enum Once: String, CaseIterable { case nothing, clientKey, unique }

  let once: Once
  let isTransaction: Bool
  /// Whether books are sent before the ISBNs that they refer to.
  let sendsBooksFirst: Bool
  /// Whether deleted books are marked by a column.
  let marksDeleted: Bool

  var testDescription: String {
    ["\(once)", isTransaction ? "transactions" : "", sendsBooksFirst ? "books first" : "", marksDeleted ? "marks" : ""]
      .filter { !$0.isEmpty }.joined(separator: ", ")
  }

  static let all: [ParseScenarioKind] = Once.allCases.flatMap { once in
    [(false, false, false), (true, true, false), (false, true, true)].map {
      ParseScenarioKind(once: once, isTransaction: $0, sendsBooksFirst: $1, marksDeleted: $2)
    }
  }

  var ups: [String] { sendsBooksFirst ? ["booksUp", "isbnsUp"] : ["isbnsUp", "booksUp"] }

  private static let pointers: JSONObject = ["isbn": ["className": "ISBN", "soup": "isbns"]]
  private static let relations: JSONValue = [
    ["field": "authors", "className": "Author", "soup": "authors", "linkSoup": "links"]
  ]

  func down(_ className: String) -> JSONObject {
    var target: JSONObject = ["type": "parse", "className": .string(className), "pageSize": 4]
    guard className == "Book" else { return target }
    target["pointers"] = .object(Self.pointers)
    target["relations"] = Self.relations
    if marksDeleted { target["deletedField"] = "gone" }
    return target
  }

  func up(_ className: String) -> JSONObject {
    let isBook = className == "Book", fields: JSONValue = isBook ? ["title", "text", "size", "isbn"] : ["title", "text"]
    var target = down(className)
    target["pageSize"] = nil
    target["createFieldlist"] = fields
    target["updateFieldlist"] = fields
    target["maxBatchSize"] = 3
    target["lostCreateWaitMs"] = 1000
    if isTransaction { target["transaction"] = true }
    switch once {
    case .nothing: break
    case .clientKey: target["externalIdFieldName"] = "clientKey"
    case .unique: target["uniqueBy"] = [["title"]]
    }
    return target
  }
}
