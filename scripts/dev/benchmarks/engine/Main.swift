/// The engine's parts of `bench --store` and `bench --postgres`, without a bridge.
@main enum EngineBench {
  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    switch arguments.first {
    case "lookups": try Lookups.run(arguments)
    case "load": try Load.run(arguments)
    default: fatalError("usage: EngineBench lookups STORE ROWS COUNT | EngineBench load PLACE NAME RECORDS kept|last")
    }
  }
}
