import ArgumentParser
import Glibc
import LuaBridge
import Support
import Tureen

struct SpecCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "spec",
    abstract: "Check the specs of plug-ins and make definitions and reference pages from them.",
    discussion: """
      FILE holds the spec of a plug-in with its service and actions, described as in bridge-spec/actions. Without --output the \
      definitions for editors (LuaCATS) go to standard output.
      """
        + ExitStatus.help([
          (0, "every spec is valid"),
          (66, "a file cannot be read"),
          (78, "a spec is wrong; the message names the key"),
        ]))

  @Option(help: "Write SERVICE.lua (definitions) and SERVICE.md (reference) into this folder.")
  var output: String?

  @Argument(help: "The files with the specs.")
  var files: [String]

  func validate() throws {
    guard !files.isEmpty else { throw ValidationError("name at least one file") }
  }

  func run() throws {
    for file in files {
      let definitions = try read(file)
      guard let output else {
        TureenCLI.write(definitions.lua, to: STDOUT_FILENO)
        continue
      }
      do {
        try FileSystem.makeDirectory(output)
        try FileSystem.write(Array(definitions.lua.utf8), to: "\(output)/\(definitions.service).lua")
        try FileSystem.write(Array(definitions.reference.utf8), to: "\(output)/\(definitions.service).md")
      } catch {
        complain("\(error)")
        throw ExitCode(ExitStatus.callFailed)
      }
    }
  }

  private func read(_ file: String) throws -> PluginDefinitions {
    guard let text = FileSystem.read(file) else {
      complain("\(file) cannot be read")
      throw ExitCode(ExitStatus.scriptNotFound)
    }
    do {
      return try PluginDefinitions(parsing: String(decoding: text, as: UTF8.self))
    } catch {
      complain("\(file): \(error.message)")
      throw ExitCode(ExitStatus.configuration)
    }
  }
}
