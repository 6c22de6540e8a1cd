import Database
import JSON

extension SQLiteSnapshot {
  func areStored(
    _ records: [Int], on page: ScannedPage, in name: String, by idPath: String, overlay: JSONObject
  ) throws -> [Bool] {
    let soup = try self.soup(name), text = StoredText(overlay: overlay)
    let finder = try connection.statement("SELECT soup FROM \(soup.table) WHERE \(soup.expression(idPath)) = ?")
    return try records.map { try isStored($0, on: page, text, finder) }
  }

  private func isStored(_ i: Int, on page: ScannedPage, _ text: StoredText, _ finder: Statement) throws -> Bool {
    guard let key = text.key(ofRecord: i, on: page) else { return false }
    finder.bind(1, text: key)
    defer { finder.reset() }
    guard try finder.step(), text.isText(finder.bytes(0), ofRecord: i, on: page) else { return false }
    return try !finder.step()
  }
}
