import JSON

/// Reads typed arguments of a control action.
/// Every failure is a ``SandboxError`` `INVALID_ARGUMENT` that names the field and the values it
/// accepts.
package struct ControlArguments {
  package let values: JSONObject

  package init(_ values: JSONObject) { self.values = values }

  package func optionalText(_ name: String) throws(SandboxError) -> String? {
    guard let value = values[name], !value.isNull else { return nil }
    guard let text = value.stringValue else { throw wrong(name, "a string") }
    return text
  }

  package func optionalInteger(
    _ name: String, _ range: ClosedRange<Int> = -(1 << 52)...(1 << 52)
  ) throws(SandboxError) -> Int? {
    guard let value = values[name], !value.isNull else { return nil }
    guard let number = value.integerValue, range.contains(Int(number)) else {
      throw wrong(name, "an integer, \(range.lowerBound) to \(range.upperBound)")
    }
    return Int(number)
  }

  package func optionalFlag(_ name: String) throws(SandboxError) -> Bool? {
    guard let value = values[name], !value.isNull else { return nil }
    guard let flag = value.boolValue else { throw wrong(name, "true or false") }
    return flag
  }

  package func text(_ name: String) throws(SandboxError) -> String {
    guard let text = try optionalText(name) else { throw wrong(name, "a string") }
    return text
  }

  package func integer(_ name: String) throws(SandboxError) -> Int {
    guard let number = try optionalInteger(name) else { throw wrong(name, "an integer") }
    return number
  }

  package func wrong(_ name: String, _ what: String) -> SandboxError {
    let got = values[name].map { ", got \($0.kindName)" } ?? ""
    return SandboxError(
      status: 400, code: "INVALID_ARGUMENT", message: "argument '\(name)' must be \(what)\(got)", fields: [name])
  }
}
