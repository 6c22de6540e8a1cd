import RecordScan

/// Returns why the bytes are not one JSON value; nil if they are.
func refusal(_ bytes: [UInt8]) -> ScanError? {
  bytes.withUnsafeBytes { raw -> ScanError? in
    var walker = JSONWalker(raw)
    do throws(ScanError) {
      _ = try walker.skipValue(depth: 0)
      try walker.expectEnd()
      return nil
    } catch {
      return error
    }
  }
}

func refusal(_ text: String) -> ScanError? { refusal(Array(text.utf8)) }

/// A scanned page, with its fields as text.
struct Scan {
  var records: [String] = []
  /// The fields of all records, as `kind:slice`.
  var fields: [[String]] = []
  var owned: [Bool] = []
  var envelope: [String] = []
  var hasRecords = true

  /// Scans an array of records, or a page object if `recordsKey` is given.
  init(
    _ text: String, paths: [String] = [], owned: [String] = [], recordsKey: String? = nil, envelope: [String] = []
  ) throws {
    try self.init(Array(text.utf8), paths: paths, owned: owned, recordsKey: recordsKey, envelope: envelope)
  }

  init(
    _ bytes: [UInt8], paths: [String] = [], owned: [String] = [], recordsKey: String? = nil, envelope: [String] = []
  ) throws {
    var scanner = RecordScanner(plan: ScanPlan(paths: paths, ownedKeys: owned))
    try bytes.withUnsafeBytes { raw in
      if let recordsKey {
        hasRecords = try scanner.scanPage(raw, recordsKey: recordsKey, envelopeKeys: envelope)
      } else {
        try scanner.scanArray(raw)
      }
    }
    func show(_ value: ScannedValue) -> String {
      let slice = String(decoding: bytes[value.start..<value.start + value.count], as: UTF8.self)
      return value.count == 0 && value.kind != .plainString ? "\(value.kind)" : "\(value.kind):\(slice)"
    }
    for i in scanner.records.indices {
      let record = scanner.records[i]
      records.append(String(decoding: bytes[record.start..<record.start + record.count], as: UTF8.self))
      fields.append((0..<paths.count).map { show(scanner.value(record: i, field: $0)) })
      self.owned.append(record.hasOwnedKey)
    }
    self.envelope = scanner.envelope.map(show)
  }
}
