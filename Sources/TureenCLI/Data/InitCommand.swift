import ArgumentParser
import Glibc
import Support

struct InitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a small project that works: a script, configuration files, editor settings.",
    discussion: """
      The script syncs the contacts of the sandbox org and shows some of them; tureen run main.lua in the folder runs it. \
      .luarc.json tells lua-language-server where the definitions of the Lua library are, and definitions.lua the names of the \
      project's soups, paths and syncs.

      No file is overwritten: if one of them exists, nothing is written. --definitions writes definitions.lua again.
      """
        + ExitStatus.help([
          (0, "done"), (1, "a file exists already, or the folder cannot be written"), (64, "wrong usage"),
          (66, "--definitions: the folder has no files with soups or syncs"), (78, "--definitions: a file is not valid JSON"),
        ]))

  @Flag(help: "Write only definitions.lua, from userstore.json and usersyncs.json, and replace it.")
  var definitions = false

  @Argument(help: "The folder; it is created if it does not exist.", completion: .directory)
  var directory = "."

  func run() throws {
    do {
      if definitions { try writeDefinitions() } else { try writeAll() }
    } catch let failure as CommandFailure {
      complain(failure.message)
      throw ExitCode(failure.status)
    }
  }

  private func writeDefinitions() throws {
    let text = try ProjectDefinitions(folder: directory).lua, file = path(ProjectDefinitions.fileName)
    do {
      try FileSystem.write(Array(text.utf8), to: file)
    } catch {
      throw CommandFailure("\(file) cannot be written: \(error)")
    }
    write(file + "\n", to: STDOUT_FILENO)
  }

  private func writeAll() throws {
    let files = InitFiles.all()
    if !FileSystem.exists(directory) { try makeFolder() }
    let existing = files.map(\.name).filter { FileSystem.exists(path($0)) }
    guard existing.isEmpty else {
      throw CommandFailure(
        "\(directory) already has \(existing.joined(separator: ", ")); nothing was written. Choose another folder")
    }
    for (name, contents) in files { try create(path(name), contents) }
    write(files.map { path($0.name) + "\n" }.joined(), to: STDOUT_FILENO)
    let enter = directory == "." ? "" : "cd \(directory) && "
    complain("next: \(enter)tureen run main.lua")
    if InitFiles.library() == nil { complain("warning: .luarc.json names no definitions; none were found beside this command") }
  }

  private func path(_ name: String) -> String { directory == "." ? name : "\(directory)/\(name)" }

  /// Creates the folder and its parents.
  private func makeFolder() throws {
    var built = ""
    for part in directory.split(separator: "/", omittingEmptySubsequences: false) {
      built += built.isEmpty && !directory.hasPrefix("/") ? String(part) : "/" + part
      guard !part.isEmpty, mkdir(built, 0o777) != 0, errno != EEXIST else { continue }
      throw failure(built)
    }
  }

  /// - Throws: ``CommandFailure``, also if another program has created the file meanwhile.
  private func create(_ path: String, _ contents: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw failure(path) }
    defer { close(descriptor) }
    let bytes = Array(contents.utf8)
    guard FileSystem.write(bytes, to: descriptor) == bytes.count else { throw failure(path) }
  }

  private func failure(_ path: String) -> CommandFailure {
    CommandFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
  }
}
