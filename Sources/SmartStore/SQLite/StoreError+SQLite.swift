import Database

extension StoreError {
  /// - Parameter error: SQLite's error, which the message includes or explains.
  init(_ code: Code, _ message: String, cause error: DatabaseError) {
    self.init(code, message)
    sqliteCode = error.code
    sql = error.sql
    isTransient = error.isBusy
  }

  /// True if SQLite could not open or read the file, as when another process renames it meanwhile.
  var isOfMovedFile: Bool {
    code == .cannotOpenStore && sqliteCode.map { [8, 10, 14].contains($0 & 0xff) } ?? false
  }
}
