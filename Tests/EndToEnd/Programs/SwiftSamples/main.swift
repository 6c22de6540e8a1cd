import Tureen

// The samples of the Swift guide and a tool with the library inside, in one program: linking one is enough for all.
// Usage: SwiftSamples HOME NAME
switch CommandLine.arguments.dropFirst(2).first {
case "AccountList": try await AccountListSample.run()
case "DetailView": try await DetailViewSample.run()
case "OptimisticDelete": try await OptimisticDeleteSample.run()
case "Tool": try await Tool.run()
case let name: fatalError("no sample is called '\(name ?? "")'")
}
