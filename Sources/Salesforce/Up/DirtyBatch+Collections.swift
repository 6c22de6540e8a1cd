import JSON
import MobileSync

/// Serializes records for sObject Collections.
extension DirtyBatch {
  /// Returns the text of a JSON array of records, copied from the text of the entries.
  /// - Parameter only: Returns the top-level members of a record to send, out of the field list; nil sends all of the list.
  func records(
    _ indices: [Int], _ action: UploadAction, externalIdField: String?, only: (Int) -> IdSet? = { _ in nil }
  ) -> [UInt8] {
    var out: [UInt8] = [UInt8(ascii: "[")]
    withText { bytes in
      for (n, i) in indices.enumerated() {
        if n > 0 { out.append(UInt8(ascii: ",")) }
        appendRecord(i, action, externalIdField, only(i), bytes, to: &out)
      }
    }
    out.append(UInt8(ascii: "]"))
    return out
  }

  private func appendRecord(
    _ i: Int, _ action: UploadAction, _ externalIdField: String?, _ only: IdSet?, _ bytes: UnsafeRawBufferPointer,
    to out: inout [UInt8]
  ) {
    out.append(contentsOf: #"{"attributes":{"type":"#.utf8)
    JSONText.appendQuoted(self.type(i), to: &out)
    out.append(UInt8(ascii: "}"))
    if action == .update {
      out.append(contentsOf: #","Id":"#.utf8)
      JSONText.appendQuoted(recordId(i) ?? "", to: &out)
    }
    if let externalIdField {
      appendKey(externalIdField, to: &out)
      appendExternalId(i, bytes, to: &out)
    }
    appendFields(i, action, only, except: externalIdField, bytes, to: &out)
    out.append(UInt8(ascii: "}"))
  }
}
