import Database

extension SQLiteSnapshot {
  func resultHash(of spec: QuerySpec) throws -> Int? {
    try connection.limited(toSteps: Tuning.watchedSteps) { try hash(of: spec) } ?? nil
  }

  /// Returns a hash of all rows of a smart query; nil if there are too many.
  private func hash(of spec: QuerySpec) throws -> Int? {
    let statement = try smartStatement(spec, limit: Tuning.watchedRows + 1, offset: 0)
    defer { statement.reset() }
    var hasher = Hasher(), rows = 0, bytes = 0
    while try statement.step() {
      rows += 1
      for i in 0..<statement.columnCount { bytes += statement.hash(i, into: &hasher) }
      if rows > Tuning.watchedRows || bytes > Tuning.watchedBytes { return nil }
    }
    hasher.combine(rows)
    return hasher.finalize()
  }
}

extension Statement {
  /// Adds the value of a column to the hash.
  /// - Returns: The value's size in bytes.
  fileprivate func hash(_ column: Int32, into hasher: inout Hasher) -> Int {
    let type = type(column)
    hasher.combine(type)
    switch type {
    case .null: break
    case .integer: hasher.combine(int64(column))
    case .real: hasher.combine(double(column))
    case .text, .blob:
      let text = bytes(column)
      hasher.combine(text.count)
      hasher.combine(bytes: text)
      return text.count
    }
    return 8
  }
}
