import JSON
import LuaBridge
import Tureen

/// The figures of a soup.
struct SoupFigures {
  let name: String
  let indexes: [(path: String, type: String)]
  let entries: Int64
  let created: Int64
  let updated: Int64
  let deleted: Int64
  let dirty: Int64
  let conflicts: Int64
  /// Creates whose outcome the server has not confirmed.
  let inDoubt: Int64

  var json: JSONObject {
    [
      "soup": .string(name), "entries": .integer(entries), "dirty": .integer(dirty), "created": .integer(created),
      "updated": .integer(updated), "deleted": .integer(deleted), "conflicts": .integer(conflicts),
      "inDoubt": .integer(inDoubt),
      "indexes": .array(indexes.map { ["path": .string($0.path), "type": .string($0.type)] }),
    ]
  }

  /// The changes of the dirty entries, such as `2 created, 1 deleted`; empty if there are none.
  var changes: String {
    [(created, "created"), (updated, "updated"), (deleted, "deleted")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
      .joined(separator: ", ")
  }
}

extension BridgeCalls {
  func figures(of soup: String) throws(CallFailure) -> SoupFigures {
    let specs = try indexSpecs(of: soup)
    // An entry that was created and then edited counts as created; a deleted one counts only as deleted.
    let flags = """
      SELECT count(*), \
      count(CASE WHEN json_extract({\(soup):_soup}, '$.__locally_deleted__') IN (1, 'true', '1') THEN 1 END), \
      count(CASE WHEN json_extract({\(soup):_soup}, '$.__locally_created__') IN (1, 'true', '1') \
      AND (json_extract({\(soup):_soup}, '$.__locally_deleted__') IS NULL \
      OR json_extract({\(soup):_soup}, '$.__locally_deleted__') NOT IN (1, 'true', '1')) THEN 1 END) \
      FROM {\(soup)} WHERE \(Self.dirtyCondition(soup, specs))
      """
    let marked = try numbers(flags)
    let entries = try numbers("SELECT count(*) FROM {\(soup)}")[0]
    let waiting = try numbers(
      """
      SELECT (SELECT count(*) FROM soup_conflicts c WHERE c.soup = s.id), \
      (SELECT count(*) FROM uploads u WHERE u.soup = s.id AND u.state = 'inDoubt') FROM soup_attrs s WHERE s.soupName = ?
      """, [.string(soup)])
    return SoupFigures(
      name: soup, indexes: specs, entries: entries, created: marked[2], updated: marked[0] - marked[1] - marked[2],
      deleted: marked[1], dirty: marked[0], conflicts: waiting[0], inDoubt: waiting[1])
  }

  /// Finds dirty entries through the index, if there is one of the usual type.
  private static func dirtyCondition(_ soup: String, _ specs: [(path: String, type: String)]) -> String {
    switch specs.first(where: { $0.path == "__local__" })?.type {
    case "string": "{\(soup):__local__} IN ('true', '1')"
    case "json1": "{\(soup):__local__} IN (1, 'true', '1')"
    default: "json_extract({\(soup):_soup}, '$.__local__') IN (1, 'true', '1')"
    }
  }

  /// Returns the first row of a result, with at most three numbers.
  private func numbers(_ sql: String, _ arguments: [JSONValue] = []) throws(CallFailure) -> [Int64] {
    let row = try rows(sql, arguments, limit: 2).first?.map { $0.integerValue ?? 0 } ?? []
    return row + [Int64](repeating: 0, count: max(0, 3 - row.count))
  }
}
