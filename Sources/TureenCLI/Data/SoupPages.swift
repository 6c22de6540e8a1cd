import JSON
import Tureen

/// All entries of a soup in the order of their ids, by keyset pagination: a page costs the same at any depth, and concurrent
/// writes do not move entries between pages.
struct SoupPages {
  let calls: BridgeCalls
  let soup: String

  private static let rows = 500

  func forEachEntry(_ body: (EntryText) throws -> Void) throws {
    let sql = """
      SELECT {\(soup):_soupEntryId}, {\(soup):_soup} FROM {\(soup)} WHERE {\(soup):_soupEntryId} > ? \
      ORDER BY {\(soup):_soupEntryId} LIMIT \(Self.rows)
      """
    var last: JSONValue = 0, count = Self.rows
    while count == Self.rows {
      count = 0
      let spec: JSONObject = [
        "queryType": "smart", "smartSql": .string(sql), "args": [last], "pageSize": .integer(Int64(Self.rows)),
      ]
      guard let page = ResultPage(try calls.text("smartstore", "pgRunSmartQuery", ["querySpec": .object(spec)])) else { return }
      _ = try calls.text("smartstore", "pgCloseCursor", ["cursorId": page.rest["cursorId"] ?? 0])
      try page.forEachRow { cells in
        count += 1
        last = (try? JSONValue(parsing: Array(cells[0].json))) ?? last
        try body(EntryText(cells[1].json))
      }
    }
  }
}
