import LuaBridge
import Testing

/// Tests the documentation that `tureen spec` generates from a plug-in's spec.
@Suite struct PluginDefinitionsTests {
  private static let spec = """
    {"service": "com.acme.printer", "summary": "Prints pages.",
     "types": {"margin": {"meaning": "a margin", "fields": {"top": {"type": "number", "required": true}}}},
     "actions": {
       "print": {
         "summary": "Prints a document.", "oneOf": ["pages", "range"], "errors": ["printer/empty"],
         "arguments": {
           "pages": {"type": "integer", "meaning": "how many"}, "range": {"type": "array", "elements": "integer"},
           "paper": {"type": "string", "values": ["A4", "A5"], "required": true}, "margin": {"type": "margin"}
         },
         "result": {"type": "integer", "meaning": "how many were printed"}
       },
       "status": {"result": {"type": "string"}}
     }}
    """

  @Test func definitions_ofASpec_nameEachTypeAndAction() throws {
    let lua = try PluginDefinitions(parsing: Self.spec).lua
    for line in [
      "---@class com.acme.printer.margin", "---@field top number", "---@field pages? integer  how many",
      "---@field range? integer[]", "---@field paper \"A4\"|\"A5\"", "---@field margin? com.acme.printer.margin",
      "---@param args com.acme.printer.print.Arguments", "---@param args com.acme.printer.status.Arguments?",
      "---@param success (fun(value: integer): any)?", "function service.print(args, success, failure, progress) end",
    ] {
      #expect(lua.split(separator: "\n").contains { $0 == line }, "\(line)")
    }
  }

  @Test func reference_ofASpec_hasATableForEachAction() throws {
    let page = try PluginDefinitions(parsing: Self.spec).reference
    for part in [
      "# com.acme.printer\n", "## `print`\n", "| `paper` | `\"A4\"\\|\"A5\"` |", "| `pages?` | `integer` | how many |",
      "One of `pages` and `range` is needed.", "Result: `integer`. how many were printed", "Errors: `printer/empty`.",
    ] {
      #expect(page.contains(part), "\(part)")
    }
  }

  @Test(arguments: [
    ("{", "spec: not JSON"), (#"{"actions": {}}"#, "spec: 'service' is missing"),
    (#"{"service": "printer", "actions": {}}"#, "service 'printer' must be"),
    (#"{"service": "com.acme.x", "actions": {"a": {"arguments": {"b": {"type": "int"}}}}}"#, "the type 'int' is unknown"),
  ])
  func spec_thatIsWrong_isRefusedByName(text: String, message: String) {
    let error = #expect(throws: BridgeError.self) { _ = try PluginDefinitions(parsing: text) }
    #expect(error?.message.hasPrefix(message) == true || error?.message.contains(message) == true, "\(String(describing: error))")
  }
}
